package bigtable

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"cloud.google.com/go/bigtable"

	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/store"
)

// Mutate implements store.Table. A mutation with guards is one CheckAndMutateRow: the
// predicate holds if the filter lets any cell through, so that
//
//	Absent   the filter lets through what any selector names; the mutation is in the branch
//	         for no cell
//	Require  the filter lets through that cell; the mutation is in the branch for some cell
//
// Conditions inside a filter are not evaluated atomically, so there is no filter for both.
func (db *DB) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	if err := db.gate.Enter(ctx); err != nil {
		return store.Result{}, err
	}
	defer db.gate.Leave()
	if err := db.checker.Row(&m); err != nil {
		return store.Result{}, err
	}
	p := db.split(&m)
	if len(p.before.Mutations) > 0 {
		if err := db.apply(ctx, []store.RowMutation{p.before}); err != nil {
			return store.Result{}, err
		}
	}
	guarded := m
	guarded.Mutations = p.main.Mutations
	res, err := db.mutateMain(ctx, &guarded)
	if err != nil || res.Outcome != store.Applied || len(p.after.Mutations) == 0 {
		return res, err
	}
	if err := db.apply(ctx, []store.RowMutation{p.after}); err != nil {
		return store.Result{}, err
	}
	return res, nil
}

// mutateMain changes a row of the main table if its guards hold.
func (db *DB) mutateMain(ctx context.Context, m *store.RowMutation) (store.Result, error) {
	predicate, err := db.predicate(m)
	if err != nil {
		return store.Result{}, err
	}
	switch {
	case predicate == nil && m.Require != nil:
		return refusal(m, nil), nil // no cell can have that timestamp
	case predicate == nil:
		db.counters.Writes.Add(1)
		if err := db.apply(ctx, []store.RowMutation{*m}); err != nil {
			return store.Result{}, err
		}
		return store.Result{Outcome: store.Applied}, nil
	}
	db.counters.Guarded.Add(1)
	mut, ops := db.encode(m)
	// A guard that failed may hold by the time its cell is looked up, because its writer
	// has removed it. Then the mutation is tried again, a bounded number of times.
	for attempt := 1; ; attempt++ {
		holds, err := db.checkAndMutate(ctx, m, predicate, mut, ops)
		switch {
		case err != nil:
			return db.afterError(ctx, m, err)
		case holds:
			return store.Result{Outcome: store.Applied}, nil
		case m.Require != nil:
			return refusal(m, nil), nil
		}
		found, err := db.firstOf(ctx, m)
		if err != nil {
			return store.Result{}, fmt.Errorf("%w: a guard does not hold, and the row cannot be read: %w", store.ErrNotDone, err)
		}
		if found != nil || attempt == maxAttempts {
			return refusal(m, found), nil
		}
	}
}

const maxAttempts = 16

func refusal(m *store.RowMutation, found *store.Cell) store.Result {
	return store.Result{Outcome: store.Refused, Row: bytes.Clone(m.Row), Found: found}
}

// predicate is the filter that says whether the guards hold, nil if it would let nothing
// through in any case.
func (db *DB) predicate(m *store.RowMutation) (bigtable.Filter, error) {
	var wants []want
	if r := m.Require; r != nil {
		wants = append(wants, db.group(r.Group).exactly(r.Column, r.TS))
	}
	for i := range m.Absent {
		wants = append(wants, db.group(m.Absent[i].Group).wantOf(&m.Absent[i]))
	}
	var (
		filters []bigtable.Filter
		size    int
	)
	for i := range wants {
		w := &wants[i]
		if w.impossible {
			continue
		}
		if !w.latest {
			w.newest = 0 // that a cell exists is enough
		}
		size += w.bytes()
		filters = append(filters, w.filter())
	}
	if size > maxFilterBytes {
		return nil, fmt.Errorf("%w: row %.80q has %d guards, which take more than the %d bytes of a predicate: split the mutation", store.ErrTooLarge, m.Row, len(filters), maxFilterBytes)
	}
	if len(filters) == 0 {
		return nil, nil
	}
	return anyOf(filters), nil
}

// exactly wants one version.
func (g *group) exactly(column []byte, ts uint64) want {
	w := g.want(column, false, ts, ts, 0)
	if ts == 0 {
		w.hi = 0 // in a selector, 0 means no bound
	}
	return w
}

// checkAndMutate asks Bigtable to change the row, and reports whether the guards held.
func (db *DB) checkAndMutate(ctx context.Context, m *store.RowMutation, predicate bigtable.Filter, mut *bigtable.Mutation, ops int) (bool, error) {
	ctx, cancel := db.bounded(ctx)
	defer cancel()
	if ops == 0 {
		row, err := db.main.ReadRow(ctx, mainKey(m.Row), bigtable.RowFilter(predicate))
		return (len(row) > 0) == (m.Require != nil), err
	}
	cond := bigtable.NewCondMutation(predicate, nil, mut)
	if m.Require != nil {
		cond = bigtable.NewCondMutation(predicate, mut, nil)
	}
	var matched bool
	err := db.main.Apply(ctx, mainKey(m.Row), cond, bigtable.GetCondMutationResult(&matched))
	return matched == (m.Require != nil), err
}

// firstOf returns a cell that makes an Absent guard fail, or nil.
func (db *DB) firstOf(ctx context.Context, m *store.RowMutation) (*store.Cell, error) {
	sel := make([]store.Selector, len(m.Absent))
	for i, s := range m.Absent {
		s.Newest = 1
		sel[i] = s
	}
	cells, err := db.read(ctx, m.Row, sel)
	if err != nil || len(cells) == 0 {
		return nil, err
	}
	return &cells[0], nil
}

// afterError determines the outcome of a guarded mutation whose response was lost.
func (db *DB) afterError(ctx context.Context, m *store.RowMutation, failed error) (store.Result, error) {
	failed = callError(ctx, fmt.Sprintf("change row %.80q", m.Row), failed)
	if rejected(failed) {
		return store.Result{}, fmt.Errorf("%w: %w", store.ErrNotDone, failed)
	}
	traces := tracesOf(m)
	for wait := firstLook; len(traces) > 0 && wait <= lastLook && ctx.Err() == nil; wait *= 4 {
		if there, err := db.left(ctx, m, traces); err == nil && there {
			db.counters.resolved.Add(1)
			return store.Result{Outcome: store.Applied}, nil
		}
		if sleep.For(ctx, wait) != nil {
			break
		}
	}
	db.counters.unknown.Add(1)
	return store.Result{}, failed
}

// The delays between reads of a row after a lost response. The request may still be on its
// way afterwards, so an unchanged row proves nothing.
const (
	firstLook = 5 * time.Millisecond
	lastLook  = 80 * time.Millisecond
)

// tracesOf lists the cells that prove that m was applied: all that it puts, provided that they
// cannot have been there before. With Absent guards, one of them must name a cell that m
// puts: it was absent, and any other caller that puts that cell puts a different timestamp or
// value (see store.Table). With Require, m must remove the required cell. Then no other caller
// can have put the other cells under the same guard and left m to be refused.
func tracesOf(m *store.RowMutation) []store.Mutation {
	var puts []store.Mutation
	proof := false
	for _, mut := range m.Mutations {
		switch {
		case mut.Op == store.Put:
			puts = append(puts, mut)
			proof = proof || named(m.Absent, &mut) || m.Require != nil && isOf(&mut, m.Require) // a new value for the required cell
		case m.Require != nil && removes(&mut, m.Require):
			proof = true
		}
	}
	if !proof {
		return nil
	}
	return puts
}

// named reports whether a guard covers the cell of a Put.
func named(guards []store.Selector, put *store.Mutation) bool {
	for i := range guards {
		s := &guards[i]
		column := bytes.Equal(s.Column, put.Column) || s.Prefix && bytes.HasPrefix(put.Column, s.Column)
		if column && s.Group == put.Group && put.TS >= s.MinTS && (s.MaxTS == 0 || put.TS <= s.MaxTS) {
			return true
		}
	}
	return false
}

// isOf reports whether a mutation is of exactly this cell.
func isOf(m *store.Mutation, r *store.CellRef) bool {
	return m.Group == r.Group && m.TS == r.TS && bytes.Equal(m.Column, r.Column)
}

// removes reports whether a mutation removes a cell.
func removes(m *store.Mutation, r *store.CellRef) bool {
	return m.Group == r.Group && bytes.Equal(m.Column, r.Column) && (m.Op == store.Delete && m.TS == r.TS || m.Op == store.DeleteUpTo && m.TS >= r.TS)
}

// left reports whether a row has all of these cells, and no longer the required one if m
// removes it.
func (db *DB) left(ctx context.Context, m *store.RowMutation, traces []store.Mutation) (bool, error) {
	wants := make([]want, len(traces))
	for i := range traces {
		wants[i] = db.group(traces[i].Group).exactly(traces[i].Column, traces[i].TS)
	}
	if r := m.Require; r != nil {
		wants = append(wants, db.group(r.Group).exactly(r.Column, r.TS))
	}
	found, err := db.readOne(ctx, db.main, mainKey(m.Row), wants)
	if err != nil {
		return false, err
	}
	for i := range traces {
		if len(found[i]) != 1 || !bytes.Equal(found[i][0].value, traces[i].Value) {
			return false, nil
		}
	}
	if m.Require == nil || slices.ContainsFunc(traces, func(put store.Mutation) bool { return isOf(&put, m.Require) }) {
		return true, nil
	}
	return len(found[len(traces)]) == 0, nil
}
