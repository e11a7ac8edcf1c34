package mem

import (
	"math/rand/v2"
	"slices"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/internal/engine"
)

// state is the whole table at one instant: one treap per group. It is immutable
// once published; a writer changes a clone.
type state struct {
	schema *engine.Schema
	roots  []*node
}

func (s *state) clone() *state {
	return &state{schema: s.schema, roots: slices.Clone(s.roots)}
}

// apply changes a clone. The request has been checked. commitTS stands in for
// AtCommit.
func (s *state) apply(m *store.RowMutation, commitTS uint64) {
	row := string(m.Row)
	for i := range m.Mutations {
		mut := &m.Mutations[i]
		ts := mut.TS
		if ts == store.AtCommit {
			ts = commitTS
		}
		g, _ := s.schema.Group(mut.Group)
		s.mutate(g, cellKey{row: row, column: string(mut.Column)}, mut, ts)
	}
}

func (s *state) mutate(g int, key cellKey, m *store.Mutation, ts uint64) {
	if s.schema.Spec(g).Latest {
		s.mutateLatest(g, key, m, ts)
		return
	}
	key.inverseTS = ^ts
	switch m.Op {
	case store.Put:
		s.put(g, key, ts, m.Value)
	case store.Delete:
		s.roots[g] = remove(s.roots[g], &key)
	case store.DeleteUpTo:
		var doomed []cellKey
		ascend(s.roots[g], &key, func(n *node) bool {
			if n.key.row != key.row || n.key.column != key.column {
				return false
			}
			doomed = append(doomed, n.key)
			return true
		})
		for i := range doomed {
			s.roots[g] = remove(s.roots[g], &doomed[i])
		}
	}
}

func (s *state) mutateLatest(g int, key cellKey, m *store.Mutation, ts uint64) {
	old := s.find(g, key)
	switch m.Op {
	case store.Put:
		if old == nil || old.ts <= ts {
			s.put(g, key, ts, m.Value)
		}
	case store.Delete:
		if old != nil && old.ts == ts {
			s.roots[g] = remove(s.roots[g], &key)
		}
	case store.DeleteUpTo:
		if old != nil && old.ts <= ts {
			s.roots[g] = remove(s.roots[g], &key)
		}
	}
}

func (s *state) put(g int, key cellKey, ts uint64, value []byte) {
	s.roots[g] = insert(s.roots[g], &node{key: key, ts: ts, value: string(value), priority: rand.Uint64()})
}

func (s *state) find(g int, key cellKey) (found *node) {
	ascend(s.roots[g], &key, func(n *node) bool {
		if n.key == key {
			found = n
		}
		return false
	})
	return found
}
