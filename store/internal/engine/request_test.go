package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/webindexer/indexer/store"
)

// TestChecker: what is just within the limits passes, and one byte or one timestamp more does not.
// Each kind of request has guards and timestamps of its own.
func TestChecker(t *testing.T) {
	schema, err := NewSchema([]store.GroupSpec{{Name: "g"}, {Name: "own", OwnTable: true}})
	if err != nil {
		t.Fatal(err)
	}
	c := &Checker{Schema: schema, Overhead: 1, Limits: store.Limits{
		MaxRowBytes: 10, MaxColumnBytes: 20, MaxValueBytes: 40, MaxBatchBytes: 100, MaxTS: 1000,
	}}
	bytes := func(n int) []byte { return []byte(strings.Repeat("x", n)) }
	row := func(row, column, value int) store.RowMutation {
		return store.RowMutation{Row: bytes(row), Mutations: []store.Mutation{{Group: "g", Column: bytes(column), Value: bytes(value), TS: 1000}}}
	}
	with := func(change func(*store.RowMutation)) store.RowMutation {
		m := row(1, 1, 1)
		change(&m)
		return m
	}
	twice := func(value int) store.RowMutation { // of 2*(1+10+19) bytes and the values
		m := row(10, 19, 20)
		m.Mutations = append(m.Mutations, row(10, 19, value).Mutations...)
		return m
	}
	absent := func(m *store.RowMutation) { m.Absent = []store.Selector{{Group: "g"}} }
	require := func(m *store.RowMutation) { m.Require = &store.CellRef{Group: "g"} }
	const mutate, apply, commit = 1, 2, 4 // who accepts it
	for _, tc := range []struct {
		name     string
		m        store.RowMutation
		accepted int
		want     error // of one that nobody accepts; nil: any
	}{
		{"a small one", row(1, 1, 1), mutate | apply | commit, nil},
		{"as large as may be", row(10, 20, 40), mutate | apply | commit, nil},
		{"a long row", row(11, 1, 1), 0, store.ErrTooLarge},
		{"a long column", row(1, 21, 1), 0, store.ErrTooLarge},
		{"a long value", row(1, 1, 41), 0, store.ErrTooLarge},
		{"as many bytes as may be", twice(20), mutate | apply | commit, nil},
		{"a byte too many", twice(21), 0, store.ErrTooLarge},
		{"a late timestamp", with(func(m *store.RowMutation) { m.Mutations[0].TS++ }), 0, store.ErrTooLarge},
		{"a deletion at any timestamp", with(func(m *store.RowMutation) { m.Mutations[0].TS++; m.Mutations[0].Op = store.DeleteUpTo }), mutate | apply | commit, nil},
		{"no known operation", with(func(m *store.RowMutation) { m.Mutations[0].Op = store.DeleteUpTo + 1 }), 0, nil},
		{"no known group", with(func(m *store.RowMutation) { m.Mutations[0].Group = "h" }), 0, store.ErrUnknownGroup},
		{"the timestamp of the commit", with(func(m *store.RowMutation) { m.Mutations[0].TS = store.AtCommit }), commit, nil},
		{"a guard", with(absent), mutate | commit, nil},
		{"another guard", with(require), mutate | commit, nil},
		{"a guard of an unknown group", with(func(m *store.RowMutation) { m.Absent = []store.Selector{{Group: "h"}} }), 0, nil},
		{"a guard of a group that takes no part", with(func(m *store.RowMutation) { m.Absent = []store.Selector{{Group: "own"}} }), 0, nil},
		{"another one", with(func(m *store.RowMutation) { m.Require = &store.CellRef{Group: "own"} }), 0, nil},
	} {
		for kind, err := range map[int]error{
			mutate: c.Row(&tc.m),
			apply:  c.Apply([]store.RowMutation{row(1, 1, 1), tc.m}),
			commit: c.Commit([]store.RowMutation{tc.m}),
		} {
			if accepted := tc.accepted&kind != 0; accepted != (err == nil) || err != nil && tc.accepted == 0 && tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("%s: request %d is answered with %v; accepted by %b, otherwise %v", tc.name, kind, err, tc.accepted, tc.want)
			}
		}
	}
	if err := c.Row(new(with(func(m *store.RowMutation) { absent(m); require(m) }))); err == nil {
		t.Error("a row with guards of both kinds was accepted")
	}
	if err := c.Commit([]store.RowMutation{twice(20), row(1, 1, 1)}); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("rows of a commit that are too large together: %v", err)
	}
}
