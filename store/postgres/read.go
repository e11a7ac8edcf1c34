package postgres

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/internal/engine"
)

// Read implements store.Reader: one statement, in which each selector is a part of a
// UNION ALL.
func (t *table) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	if err := t.gate.Enter(ctx); err != nil {
		return nil, err
	}
	defer t.gate.Leave()
	if err := t.checker.Schema.Selectors(sel); err != nil || len(sel) == 0 {
		return nil, err
	}
	t.counters.Reads.Add(1)
	cells, err := t.reads.do(ctx, t.newReadRequest(row, sel))
	if err != nil {
		return nil, err
	}
	// Parts of a UNION ALL come in order in practice, but SQL does not promise it.
	if !slices.IsSortedFunc(cells, compareSelected) {
		slices.SortFunc(cells, compareSelected)
	}
	out := make([]store.Cell, len(cells))
	for i := range cells {
		out[i] = cells[i].Cell
	}
	return out, nil
}

// selected is a cell with the number of the selector that named it.
type selected struct {
	store.Cell
	selector int32
}

func compareSelected(a, b selected) int {
	return cmp.Or(cmp.Compare(a.selector, b.selector), bytes.Compare(a.Column, b.Column), cmp.Compare(b.TS, a.TS))
}

// decode copies what is in the connection's buffer.
func (r *readRequest) decode(v [][]byte) selected {
	n := int32(binary.BigEndian.Uint32(v[0]))
	return selected{Cell: newCell(r.groups[n], r.row, nil, v[1], v[2], v[3]), selector: n}
}

// newCell makes a cell from copies, in one allocation. The key of the row comes in two parts.
func newCell(group string, head, rest, col, inverseTS, value []byte) store.Cell {
	row, c := len(head)+len(rest), len(col)
	b := make([]byte, 0, row+c+len(value))
	b = append(append(append(append(b, head...), rest...), col...), value...)
	return store.Cell{
		Group: group, Row: b[:row:row], Column: b[row : row+c : row+c], Value: b[row+c:],
		TS: timestamp(int64(binary.BigEndian.Uint64(inverseTS))),
	}
}

// query is a statement in the making. Its text depends only on the shape of a request, so it is
// prepared once on each connection.
type query struct {
	sql  strings.Builder
	args []any
}

// arg adds an argument and returns its place-holder.
func (q *query) arg(v any) string {
	q.args = append(q.args, v)
	return fmt.Sprint("$", len(q.args))
}

func (t *table) readQuery(row []byte, sel []store.Selector) *query {
	q := &query{}
	k := splitRow(row)
	where := " WHERE head = " + q.arg(k.head) + " AND tail = " + q.arg(k.tail)
	for i := range sel {
		if i > 0 {
			q.sql.WriteString(" UNION ALL ")
		}
		t.selectPart(q, where, i, &sel[i])
	}
	return q
}

// selectPart adds the part for one selector.
func (t *table) selectPart(q *query, where string, i int, s *store.Selector) {
	n, _ := t.checker.Schema.Group(s.Group)
	g := &t.groups[n]
	lo, hi := engine.TSRange(s.MinTS, s.MaxTS)
	times := " AND inverse_ts BETWEEN " + q.arg(inverse(hi)) + " AND " + q.arg(inverse(lo))
	columns := fmt.Sprintf("%d AS selector, col, inverse_ts, value", i)
	switch {
	case !s.Prefix:
		fmt.Fprintf(&q.sql, "(SELECT %s FROM %s%s AND col = %s%s ORDER BY inverse_ts%s)", columns, g.Table, where, q.arg(append([]byte{}, s.Column...)), times, limit(q, s.Newest))
	case g.Latest || s.Newest == 0:
		fmt.Fprintf(&q.sql, "(SELECT %s FROM %s%s%s%s ORDER BY col, inverse_ts)", columns, g.Table, where, columnRange(q, s.Column), times)
	default:
		fmt.Fprintf(&q.sql, "(SELECT selector, col, inverse_ts, value FROM (SELECT %s, row_number() OVER (PARTITION BY col ORDER BY inverse_ts) AS version FROM %s%s%s%s) AS versions WHERE version <= %s ORDER BY col, inverse_ts)",
			columns, g.Table, where, columnRange(q, s.Column), times, q.arg(s.Newest))
	}
}

// limit keeps the newest versions of one column. The usual 1 is written out, so that the
// planner knows how little is wanted.
func limit(q *query, newest int) string {
	switch newest {
	case 0:
		return ""
	case 1:
		return " LIMIT 1"
	}
	return " LIMIT " + q.arg(newest)
}

// columnRange is the condition that a column has a prefix.
func columnRange(q *query, prefix []byte) string {
	if len(prefix) == 0 {
		return ""
	}
	s := " AND col >= " + q.arg(bytes.Clone(prefix))
	if end := store.PrefixEnd(prefix); end != nil {
		s += " AND col < " + q.arg(end)
	}
	return s
}
