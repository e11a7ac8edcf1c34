package txn

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/webindexer/indexer/store"
)

// shown is what is at one timestamp of one cell, as in Figure 4 of the paper.
type shown struct {
	cell Cell
	ts   uint64
	text [len(headings)]string
}

var headings = [...]string{"data", "lock", "write", "notify", "ack", "read"}

const (
	showData = iota
	showLock
	showWrite
	showNotify
	showAck
	showRead
)

// printer prints the whole table, with a star at what is new since the last time.
type printer struct {
	table store.Table
	last  map[string]bool
}

// changed returns the table, or "" if it has not changed.
func (p *printer) changed() (string, error) {
	lines, err := readShown(p.table)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	columns := inUse(lines)
	fmt.Fprintf(w, "  cell\tts")
	for _, c := range columns {
		fmt.Fprintf(w, "\t%s", headings[c])
	}
	fmt.Fprintln(w)
	now := make(map[string]bool)
	same := true
	for i, l := range lines {
		id := fmt.Sprint(l)
		now[id] = true
		mark, cell := " ", ""
		if !p.last[id] {
			mark, same = "*", false
		}
		if i == 0 || lines[i-1].cell != l.cell {
			cell = l.cell.Row + " " + l.cell.Name
		}
		fmt.Fprintf(w, "%s %s\t%d", mark, cell, l.ts)
		for _, c := range columns {
			fmt.Fprintf(w, "\t%s", l.text[c])
		}
		fmt.Fprintln(w)
	}
	if same && len(now) == len(p.last) {
		return "", nil
	}
	p.last = now
	if err := w.Flush(); err != nil {
		return "", err
	}
	out := strings.Split(b.String(), "\n")
	for i := range out {
		out[i] = strings.TrimRight(out[i], " ")
	}
	return strings.Join(out, "\n"), nil
}

// inUse lists the columns that are not empty.
func inUse(lines []*shown) (columns []int) {
	for c := range headings {
		if slices.ContainsFunc(lines, func(l *shown) bool { return l.text[c] != "" }) {
			columns = append(columns, c)
		}
	}
	return columns
}

func readShown(table store.Table) ([]*shown, error) {
	type key struct {
		cell Cell
		ts   uint64
	}
	index := make(map[key]*shown)
	add := func(cell Cell, ts uint64, column int, text string) {
		s := index[key{cell, ts}]
		if s == nil {
			s = &shown{cell: cell, ts: ts}
			index[key{cell, ts}] = s
		}
		if s.text[column] != "" {
			text = s.text[column] + ", " + text
		}
		s.text[column] = text
	}
	for _, g := range []string{"app", lockGroup, notifyGroup, ackGroup, readGroup} {
		_, err := table.Scan(context.Background(), store.Range{Group: g}, func(c store.Cell) error {
			cell, column, text, err := describe(c)
			add(cell, c.TS, column, text)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	lines := make([]*shown, 0, len(index))
	for _, s := range index {
		lines = append(lines, s)
	}
	slices.SortFunc(lines, func(a, b *shown) int {
		return cmp.Or(strings.Compare(a.cell.Row, b.cell.Row), strings.Compare(a.cell.Name, b.cell.Name), -cmp.Compare(a.ts, b.ts))
	})
	return lines, nil
}

// describe says in words what a cell of the store holds.
func describe(c store.Cell) (cell Cell, column int, text string, err error) {
	cell.Row = string(c.Row)
	switch c.Group {
	case lockGroup:
		cell.Column, _ = parseSideColumn(c.Column)
		text, err = describeLock(c, cell)
		return cell, showLock, text, err
	case notifyGroup:
		cell.Column, text, _ = parseObserverColumn(c.Column)
		return cell, showNotify, text, nil
	case ackGroup:
		cell.Column, text, _ = parseObserverColumn(c.Column)
		return cell, showAck, text, nil
	}
	if c.Group == readGroup {
		cell.Column, _ = parseSideColumn(c.Column)
		return cell, showRead, "for update", nil
	}
	cell.Column = Column{c.Group, string(c.Column[1:])}
	switch c.Column[0] {
	case kindData:
		return cell, showData, short(c.Value), nil
	case kindRollback:
		return cell, showWrite, "rolled back", nil
	}
	w, err := decodeWrite(c.Value)
	switch {
	case w.op == opLock, w.op == opRead:
		text = "locked"
	case w.op == opDelete:
		text = "deleted"
	case w.inline:
		text = short(w.value)
	default:
		text = "data"
	}
	return cell, showWrite, fmt.Sprintf("%s @ %d", text, w.start), err
}

func describeLock(c store.Cell, at Cell) (string, error) {
	l, err := decodeLock(c)
	text := "put"
	switch {
	case l.op == opDelete:
		text = "delete"
	case l.op == opLock:
		text = "lock"
	case l.op == opRead:
		text = "read"
	case l.inline:
		text = "put " + short(l.value)
	}
	if l.primary == at {
		text += ", I am primary"
	} else {
		text += ", primary @ " + l.primary.Row + " " + l.primary.Name
	}
	if len(l.acks) > 0 {
		text += ", run of " + strings.Join(l.acks, " ")
	}
	return text, err
}

func short(v []byte) string {
	if len(v) > 20 {
		return fmt.Sprintf("%s… (%d bytes)", v[:8], len(v))
	}
	return string(v)
}
