package mem

import (
	"bytes"

	"github.com/webindexer/indexer/store"
)

// refused returns the refusal of a row whose guards do not hold in s.
func (s *state) refused(m *store.RowMutation) (store.Result, bool) {
	for i := range m.Absent {
		sel := m.Absent[i]
		sel.Newest = 0
		var found *store.Cell
		s.selectCells(string(m.Row), &sel, func(n *node) bool {
			c := cell(sel.Group, n)
			found = &c
			return false
		})
		if found != nil {
			return store.Result{Outcome: store.Refused, Row: bytes.Clone(m.Row), Found: found}, true
		}
	}
	if m.Require != nil && !s.has(m.Row, m.Require) {
		return store.Result{Outcome: store.Refused, Row: bytes.Clone(m.Row)}, true
	}
	return store.Result{}, false
}

func (s *state) has(row []byte, ref *store.CellRef) bool {
	g, _ := s.schema.Group(ref.Group)
	key := cellKey{row: string(row), column: string(ref.Column)}
	if !s.schema.Spec(g).Latest {
		key.inverseTS = ^ref.TS
	}
	n := s.find(g, key)
	return n != nil && n.ts == ref.TS
}
