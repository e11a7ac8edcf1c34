package storetest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
)

// random runs operations against a table and a model.
type random struct {
	*fixture
	*rand.Rand
	model *Model
	clock *testClock
	snaps []modelSnapshot
}

type modelSnapshot struct {
	store.Snapshot
	model *Model
}

// testModel runs random operations on a table and on a model, and compares what they say.
func testModel(t *testing.T, open Opener) {
	f := start(t, open)
	r := &random{fixture: f, Rand: testenv.Random(t), model: NewModel(Groups)}
	steps := 4000
	if testing.Short() {
		steps = 1500
	}
	if c, ok := f.table.(store.Committer); ok {
		r.clock = newClock()
		c.UseClock(r.clock)
	}
	for range steps {
		r.step()
		if f.Failed() {
			break
		}
	}
	for _, s := range r.snaps {
		r.compare(s.Snapshot, s.model)
		s.Close()
	}
}

func (r *random) step() {
	switch n := r.IntN(100); {
	case n < 35:
		r.mutateOnce()
	case n < 50:
		r.commitOnce()
	case n < 60:
		r.applyOnce()
	case n < 95:
		r.compareOnce(r.table, r.model)
	case n < 97:
		r.compare(r.table, r.model)
	default:
		r.snapshotOnce()
	}
}

func pick[T any](r *random, from ...T) T { return from[r.IntN(len(from))] }

func (r *random) group() string { return Groups[r.IntN(len(Groups))].Name }
func (r *random) name() []byte  { return []byte(names[5+r.IntN(6)]) }
func (r *random) ts() uint64    { return uint64(r.IntN(12)) }

func (r *random) selector() store.Selector {
	s := store.Selector{Group: r.group(), Column: r.name(), Newest: r.IntN(3)}
	if r.IntN(3) == 0 {
		s.Prefix = true
		s.Column = pick(r, nil, []byte("a"), []byte("\x01"), []byte("a\x00"))
	}
	s.MinTS, s.MaxTS = r.times()
	return s
}

func (r *random) times() (lo, hi uint64) {
	if r.IntN(2) == 0 {
		lo = r.ts()
	}
	if r.IntN(2) == 0 {
		hi = r.ts()
	}
	if r.clock != nil && r.IntN(4) == 0 {
		lo = r.clock.last - uint64(r.IntN(3))
		hi = 0
	}
	return lo, hi
}

func (r *random) rowMutation(commit, guards bool) store.RowMutation {
	m := store.RowMutation{Row: r.name()}
	for range r.IntN(5) {
		mut := store.Mutation{Op: pick(r, store.Put, store.Put, store.Put, store.Delete, store.DeleteUpTo), Group: r.group(), Column: r.name(), TS: r.ts()}
		if mut.Op == store.Put {
			mut.Value = []byte(pick(r, "", "x", "\x00", fmt.Sprint(r.IntN(1000))))
		}
		if commit && r.IntN(2) == 0 {
			mut.TS = store.AtCommit
		}
		if mut.Op == store.Delete && mut.TS > 0 && r.model.latest[mut.Group] {
			// What a Delete of the kept version uncovers is not specified.
			older := mut
			older.Op, older.TS = store.DeleteUpTo, mut.TS-1
			m.Mutations = append(m.Mutations, older)
		}
		m.Mutations = append(m.Mutations, mut)
	}
	if !guards {
		return m
	}
	if r.IntN(4) == 0 {
		m.Require = &store.CellRef{Group: r.group(), Column: r.name(), TS: r.ts()}
		if !commit {
			return m
		}
	}
	for range r.IntN(3) {
		m.Absent = append(m.Absent, r.selector())
	}
	return m
}

func (r *random) mutateOnce() {
	m := r.rowMutation(false, true)
	res, err := r.table.Mutate(ctx, m)
	r.checkOutcome(res, err, r.model.Holds(m), m)
	if res.Outcome == store.Applied {
		r.model.Do(m, 0)
	}
}

func (r *random) commitOnce() {
	c, ok := r.table.(store.Committer)
	if !ok {
		return
	}
	var rows []store.RowMutation
	holds := true
	for range r.IntN(4) {
		m := r.rowMutation(true, r.IntN(2) == 0)
		rows = append(rows, m)
		holds = holds && r.model.Holds(m)
	}
	ts, res, err := c.Commit(ctx, rows)
	r.checkOutcome(res, err, holds, rows)
	if res.Outcome == store.Applied {
		for _, m := range rows {
			r.model.Do(m, ts)
		}
	}
}

func (r *random) checkOutcome(res store.Result, err error, holds bool, what any) {
	want := store.Refused
	if holds {
		want = store.Applied
	}
	if err != nil || res.Outcome != want {
		r.Errorf("%+v\n= %v, %v; want %v", what, res.Outcome, err, want)
	}
	if f := res.Found; f != nil {
		exists := r.model.Holds(store.RowMutation{Row: res.Row, Require: &store.CellRef{Group: f.Group, Column: f.Column, TS: f.TS}})
		if !exists || string(f.Row) != string(res.Row) {
			r.Errorf("%+v\nwas refused for a cell that is not there: %s", what, showCell(*f))
		}
	}
}

func (r *random) applyOnce() {
	var rows []store.RowMutation
	for range r.IntN(4) {
		rows = append(rows, r.rowMutation(false, false))
	}
	if err := r.table.Apply(ctx, rows); err != nil {
		r.Errorf("Apply: %v", err)
	}
	for _, m := range rows {
		r.model.Do(m, 0)
	}
}

// compareOnce reads and scans something.
func (r *random) compareOnce(table store.Reader, model *Model) {
	name, sel := r.name(), []store.Selector{r.selector(), r.selector()}
	if got, want := r.read(table, string(name), sel...), show(model.Read(name, sel...)); got != want {
		r.Errorf("Read(%q, %+v)\n got %s\nwant %s", name, sel, got, want)
	}
	rg := store.Range{Group: r.group(), Newest: r.IntN(3), Borrowed: r.IntN(2) == 0}
	rg.MinTS, rg.MaxTS = r.times()
	if r.IntN(2) == 0 {
		rg.Start = r.name()
	}
	if r.IntN(2) == 0 {
		rg.End = r.name()
	}
	if r.IntN(3) == 0 {
		rg.ColumnPrefix = r.name()
	}
	if got, want := show(r.scanAll(table, rg)), show(model.Scan(rg)); got != want {
		r.Errorf("Scan(%+v)\n got %s\nwant %s", rg, got, want)
	}
}

// compare compares everything.
func (r *random) compare(table store.Reader, model *Model) {
	for _, g := range Groups {
		rg := store.Range{Group: g.Name}
		if got, want := show(r.scanAll(table, rg)), show(model.Scan(rg)); got != want {
			r.Errorf("group %s\n got %s\nwant %s", g.Name, got, want)
		}
	}
}

func (r *random) snapshotOnce() {
	s, ok := r.table.(store.Snapshotter)
	if !ok {
		return
	}
	if len(r.snaps) >= 4 {
		i := r.IntN(len(r.snaps))
		r.compare(r.snaps[i].Snapshot, r.snaps[i].model)
		r.compareOnce(r.snaps[i].Snapshot, r.snaps[i].model)
		r.snaps[i].Close()
		r.snaps = append(r.snaps[:i], r.snaps[i+1:]...)
	}
	r.snaps = append(r.snaps, modelSnapshot{s.Snapshot(), r.model.Clone()})
}
