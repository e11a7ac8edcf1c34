package mem

import (
	"context"
	"strings"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/internal/engine"
)

// read returns what the selectors name, for each selector in turn.
func (s *state) read(row []byte, sel []store.Selector) ([]store.Cell, error) {
	if err := s.schema.Selectors(sel); err != nil {
		return nil, err
	}
	var cells []store.Cell
	for i := range sel {
		s.selectCells(string(row), &sel[i], func(n *node) bool {
			cells = append(cells, cell(sel[i].Group, n))
			return true
		})
	}
	return cells, nil
}

// selectCells calls fn for what one selector names, until fn returns false.
func (s *state) selectCells(row string, sel *store.Selector, fn func(*node) bool) {
	g, err := s.schema.Group(sel.Group)
	if err != nil {
		return // checked by the caller
	}
	column := string(sel.Column)
	f := newFilter(sel.MinTS, sel.MaxTS, sel.Newest)
	ascend(s.roots[g], &cellKey{row: row, column: column}, func(n *node) bool {
		if n.key.row != row || !strings.HasPrefix(n.key.column, column) || (!sel.Prefix && n.key.column != column) {
			return false
		}
		return !f.keeps(n) || fn(n)
	})
}

// filter picks the newest versions in a range of timestamps; it is shown the
// cells in order.
type filter struct {
	lo, hi uint64
	newest int
	row    string
	column string
	kept   int // of this column
}

func newFilter(minTS, maxTS uint64, newest int) *filter {
	lo, hi := engine.TSRange(minTS, maxTS)
	return &filter{lo: lo, hi: hi, newest: newest}
}

func (f *filter) keeps(n *node) bool {
	if n.ts < f.lo || n.ts > f.hi {
		return false
	}
	if n.key.row != f.row || n.key.column != f.column {
		f.row, f.column, f.kept = n.key.row, n.key.column, 0
	}
	f.kept++
	return f.newest == 0 || f.kept <= f.newest
}

func (s *state) scan(ctx context.Context, r store.Range, fn func(store.Cell) error) (next []byte, err error) {
	g, err := s.schema.Group(r.Group)
	if err != nil {
		return nil, err
	}
	var (
		f      = newFilter(r.MinTS, r.MaxTS, r.Newest)
		end    = string(r.End)
		prefix = string(r.ColumnPrefix)
		row    string // of the last cell that was passed on
		passed int
	)
	ascend(s.roots[g], &cellKey{row: string(r.Start)}, func(n *node) bool {
		if r.End != nil && n.key.row >= end {
			return false
		}
		if r.MaxCells > 0 && passed >= r.MaxCells && n.key.row != row {
			next = []byte(n.key.row)
			return false
		}
		if err = ctx.Err(); err != nil {
			next = []byte(n.key.row)
			return false
		}
		if !strings.HasPrefix(n.key.column, prefix) || !f.keeps(n) {
			return true
		}
		row = n.key.row
		passed++
		if err = fn(cell(r.Group, n)); err != nil {
			next = []byte(row)
			return false
		}
		return true
	})
	return next, err
}

func cell(group string, n *node) store.Cell {
	return store.Cell{Group: group, Row: []byte(n.key.row), Column: []byte(n.key.column), TS: n.ts, Value: []byte(n.value)}
}
