package storetest

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/webindexer/indexer/store"
)

// Model is the naive table that the randomised tests compare with: a list of
// cells, searched from end to end. It is simple enough to be checked by eye.
type Model struct {
	latest map[string]bool
	cells  []store.Cell
}

// NewModel returns an empty model.
func NewModel(groups []store.GroupSpec) *Model {
	m := &Model{latest: map[string]bool{}}
	for _, g := range groups {
		m.latest[g.Name] = g.Latest
	}
	return m
}

// Clone copies the model.
func (m *Model) Clone() *Model {
	return &Model{latest: m.latest, cells: slices.Clone(m.cells)}
}

// Do applies a row's mutations without looking at its guards.
func (m *Model) Do(rm store.RowMutation, commitTS uint64) {
	for _, mut := range rm.Mutations {
		ts := mut.TS
		if ts == store.AtCommit {
			ts = commitTS
		}
		same := func(c store.Cell) bool {
			return c.Group == mut.Group && bytes.Equal(c.Row, rm.Row) && bytes.Equal(c.Column, mut.Column)
		}
		switch mut.Op {
		case store.Delete:
			m.cells = slices.DeleteFunc(m.cells, func(c store.Cell) bool { return same(c) && c.TS == ts })
		case store.DeleteUpTo:
			m.cells = slices.DeleteFunc(m.cells, func(c store.Cell) bool { return same(c) && c.TS <= ts })
		case store.Put:
			if m.latest[mut.Group] {
				if slices.ContainsFunc(m.cells, func(c store.Cell) bool { return same(c) && c.TS > ts }) {
					continue
				}
				m.cells = slices.DeleteFunc(m.cells, same)
			}
			m.cells = slices.DeleteFunc(m.cells, func(c store.Cell) bool { return same(c) && c.TS == ts })
			m.cells = append(m.cells, store.Cell{Group: mut.Group, Row: rm.Row, Column: mut.Column, TS: ts, Value: mut.Value})
		}
	}
	slices.SortFunc(m.cells, compareCells)
}

func compareCells(a, b store.Cell) int {
	return cmp.Or(bytes.Compare(a.Row, b.Row), bytes.Compare(a.Column, b.Column), cmp.Compare(b.TS, a.TS))
}

// Holds evaluates the guards of a row.
func (m *Model) Holds(rm store.RowMutation) bool {
	for _, sel := range rm.Absent {
		sel.Newest = 0
		if len(m.Read(rm.Row, sel)) > 0 {
			return false
		}
	}
	if ref := rm.Require; ref != nil {
		return slices.ContainsFunc(m.cells, func(c store.Cell) bool {
			return c.Group == ref.Group && bytes.Equal(c.Row, rm.Row) && bytes.Equal(c.Column, ref.Column) && c.TS == ref.TS
		})
	}
	return true
}

// Read is store.Reader's.
func (m *Model) Read(row []byte, sel ...store.Selector) (out []store.Cell) {
	for _, s := range sel {
		out = append(out, newestOf(m.cells, s.Newest, func(c store.Cell) bool {
			return c.Group == s.Group && bytes.Equal(c.Row, row) && inTime(c.TS, s.MinTS, s.MaxTS) &&
				(bytes.Equal(c.Column, s.Column) || s.Prefix && bytes.HasPrefix(c.Column, s.Column))
		})...)
	}
	return out
}

// Scan gives the cells of a range; MaxCells is ignored.
func (m *Model) Scan(r store.Range) []store.Cell {
	return newestOf(m.cells, r.Newest, func(c store.Cell) bool {
		return c.Group == r.Group && bytes.Compare(c.Row, r.Start) >= 0 && (r.End == nil || bytes.Compare(c.Row, r.End) < 0) &&
			bytes.HasPrefix(c.Column, r.ColumnPrefix) && inTime(c.TS, r.MinTS, r.MaxTS)
	})
}

func inTime(ts, lo, hi uint64) bool { return ts >= lo && (hi == 0 || ts <= hi) }

func newestOf(cells []store.Cell, newest int, match func(store.Cell) bool) (out []store.Cell) {
	kept := 0
	for _, c := range cells {
		if !match(c) {
			continue
		}
		if n := len(out); n == 0 || !bytes.Equal(out[n-1].Row, c.Row) || !bytes.Equal(out[n-1].Column, c.Column) {
			kept = 0
		}
		if kept++; newest == 0 || kept <= newest {
			out = append(out, c)
		}
	}
	return out
}
