package txn

import (
	"cmp"
	"slices"
	"strings"
)

// overlayRow merges the transaction's own writes into a row that was read.
func (t *Txn) overlayRow(row, group string, cols []Version) []Version {
	var own []Version
	for _, w := range t.writes.order {
		if w.cell.Row == row && w.cell.Group == group {
			own = append(own, w.version())
		}
	}
	if len(own) == 0 {
		return cols
	}
	slices.SortFunc(own, func(a, b Version) int { return strings.Compare(a.Name, b.Name) })
	return mergeColumns(cols, own)
}

// version is the version that the transaction reads of its own write.
func (w *write) version() Version {
	return Version{Name: w.cell.Name, Value: Value{Data: w.value, Exists: w.op == opPut}}
}

// mergeColumns merges two lists sorted by name; over wins, and hides the columns that it
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

// ownRows iterates over the rows that the transaction itself wrote, along with a scan. It
// is made when the scan begins, so it does not include writes of the scan's function.
type ownRows struct {
	rows []scannedRow // ascending; columns ascending, including deleted ones
}

func (t *Txn) ownRows(group, start, end string) *ownRows {
	var own []*write
	for _, w := range t.writes.order {
		r := w.cell.Row
		if w.cell.Group == group && r >= start && (end == "" || r < end) {
			own = append(own, w)
		}
	}
	slices.SortFunc(own, func(a, b *write) int {
		return cmp.Or(strings.Compare(a.cell.Row, b.cell.Row), strings.Compare(a.cell.Name, b.cell.Name))
	})
	o := &ownRows{}
	for _, w := range own {
		if n := len(o.rows); n == 0 || o.rows[n-1].row != w.cell.Row {
			o.rows = append(o.rows, scannedRow{row: w.cell.Row})
		}
		last := &o.rows[len(o.rows)-1]
		last.cols = append(last.cols, w.version())
	}
	return o
}

// merge passes on the written rows that come before a stored row, and then that
// row merged with the transaction's writes to it.
func (o *ownRows) merge(r scannedRow, fn func(string, []Version) error) error {
	for len(o.rows) > 0 && o.rows[0].row < r.row {
		if err := o.pass(nil, fn); err != nil {
			return err
		}
	}
	if len(o.rows) > 0 && o.rows[0].row == r.row {
		return o.pass(r.cols, fn)
	}
	if len(r.cols) == 0 {
		return nil
	}
	return fn(r.row, r.cols)
}

// rest passes on the remaining written rows.
func (o *ownRows) rest(fn func(string, []Version) error) error {
	for len(o.rows) > 0 {
		if err := o.pass(nil, fn); err != nil {
			return err
		}
	}
	return nil
}

// pass passes on the first written row, merged with the columns stored.
func (o *ownRows) pass(stored []Version, fn func(string, []Version) error) error {
	own := o.rows[0]
	o.rows = o.rows[1:]
	cols := mergeColumns(stored, own.cols)
	if len(cols) == 0 {
		return nil
	}
	return fn(own.row, cols)
}
