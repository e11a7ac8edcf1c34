package txn

import (
	"slices"
	"strings"
)

// overlayRow merges the transaction's own writes into a row that was read.
func (t *Txn) overlayRow(row, group string, cols []Version) []Version {
	var own []Version
	for _, w := range t.order {
		if w.cell.Row == row && w.cell.Group == group {
			own = append(own, Version{Name: w.cell.Name, Value: Value{Data: w.value, Exists: w.op == opPut}})
		}
	}
	if len(own) == 0 {
		return cols
	}
	slices.SortFunc(own, func(a, b Version) int { return strings.Compare(a.Name, b.Name) })
	return mergeColumns(cols, own)
}

// mergeColumns merges two lists sorted by name; over wins, and hides what it
// deletes.
func mergeColumns(under, over []Version) []Version {
	merged := make([]Version, 0, len(under)+len(over))
	for len(under) > 0 || len(over) > 0 {
		if len(over) == 0 || (len(under) > 0 && under[0].Name < over[0].Name) {
			merged, under = append(merged, under[0]), under[1:]
			continue
		}
		if len(under) > 0 && under[0].Name == over[0].Name {
			under = under[1:]
		}
		if over[0].Exists {
			merged = append(merged, over[0])
		}
		over = over[1:]
	}
	return merged
}

// ownRows lists the rows in [start, end) that the transaction wrote in group,
// ascending.
func (t *Txn) ownRows(group, start, end string) []string {
	var rows []string
	for _, w := range t.order {
		r := w.cell.Row
		if w.cell.Group == group && r >= start && (end == "" || r < end) {
			rows = append(rows, r)
		}
	}
	slices.Sort(rows)
	return slices.Compact(rows)
}
