package bigtable

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"cloud.google.com/go/bigtable"

	"github.com/webindexer/indexer/store"
)

// entry is what a request does to one row.
type entry struct {
	key   string
	mut   *bigtable.Mutation
	ops   int // of mut
	bytes int // roughly, of the request
}

// Apply implements store.Table. Rows go to Bigtable in requests of many. Bigtable applies the
// rows of a request in any order, so mutations of one row become one, or follow each other.
func (db *DB) Apply(ctx context.Context, rows []store.RowMutation) error {
	if err := db.gate.Enter(ctx); err != nil {
		return err
	}
	defer db.gate.Leave()
	if err := db.checker.Apply(rows); err != nil {
		return err
	}
	db.counters.Writes.Add(int64(len(rows)))
	return db.apply(ctx, rows)
}

// apply writes in three phases, for the sake of groups with OwnTable: their Puts, the rest,
// their deletes.
func (db *DB) apply(ctx context.Context, rows []store.RowMutation) error {
	var before, main, after []store.RowMutation
	for i := range rows {
		p := db.split(&rows[i])
		before = appendRow(before, p.before)
		main = appendRow(main, p.main)
		after = appendRow(after, p.after)
	}
	for _, phase := range []struct {
		own  int
		rows []store.RowMutation
	}{{1, before}, {0, main}, {1, after}} {
		for _, wave := range waves(phase.rows) {
			if err := db.write(ctx, phase.own, wave); err != nil {
				return err
			}
		}
	}
	return nil
}

func appendRow(rows []store.RowMutation, m store.RowMutation) []store.RowMutation {
	if len(m.Mutations) == 0 {
		return rows // Bigtable refuses empty ones
	}
	return append(rows, m)
}

// phases are the parts of a mutation, in an order that is safe if the process crashes
// between two of them: a notification is written before the change that it announces, and
// no notification is removed too early.
type phases struct{ before, main, after store.RowMutation }

// split takes a mutation apart. Where a group with OwnTable has deletes, all its mutations
// are repeated at the end in their order, since a Put can follow a delete of the same cell.
func (db *DB) split(m *store.RowMutation) phases {
	p := phases{main: store.RowMutation{Row: m.Row}, before: store.RowMutation{Row: m.Row}, after: store.RowMutation{Row: m.Row}}
	if db.own == nil {
		p.main.Mutations = m.Mutations
		return p
	}
	deletes := func(group string) bool {
		return slices.ContainsFunc(m.Mutations, func(mut store.Mutation) bool { return mut.Op != store.Put && mut.Group == group })
	}
	var twice []store.Mutation
	for _, mut := range m.Mutations {
		switch {
		case !db.group(mut.Group).OwnTable:
			p.main.Mutations = append(p.main.Mutations, mut)
			continue
		case !deletes(mut.Group):
			p.before.Mutations = append(p.before.Mutations, mut)
			continue
		case mut.Op == store.Put:
			twice = append(twice, mut)
		}
		p.after.Mutations = append(p.after.Mutations, mut)
	}
	if len(p.main.Mutations) > 0 { // otherwise there is nothing that they must follow
		p.before.Mutations = append(p.before.Mutations, twice...)
	}
	return p
}

// waves joins mutations of the same row, in their order, as far as the limit of a mutation
// allows, and spreads the rest over several waves. No wave has a row twice.
func waves(rows []store.RowMutation) (list [][]store.RowMutation) {
	last := map[string]joinedRow{}
	for i := range rows {
		m := rows[i]
		n := bytesOf(&m)
		at, seen := last[string(m.Row)]
		switch {
		case seen && at.bytes+n <= limits.MaxBatchBytes:
			joined := &list[at.wave][at.place]
			joined.Mutations = append(joined.Mutations[:len(joined.Mutations):len(joined.Mutations)], m.Mutations...)
			at.bytes += n
			last[string(m.Row)] = at
			continue
		case seen:
			at.wave++
		}
		if at.wave == len(list) {
			list = append(list, nil)
		}
		last[string(m.Row)] = joinedRow{wave: at.wave, place: len(list[at.wave]), bytes: n}
		list[at.wave] = append(list[at.wave], m)
	}
	return list
}

// joinedRow says in which wave a row comes last, where in that wave, and with how many bytes.
type joinedRow struct{ wave, place, bytes int }

func bytesOf(m *store.RowMutation) int {
	n := len(m.Row)
	for i := range m.Mutations {
		n += opOverhead + len(m.Row) + len(m.Mutations[i].Column) + len(m.Mutations[i].Value)
	}
	return n
}

// entriesOf encodes a mutation for the main table, or for the one of groups with OwnTable, where
// each group has a key of its own. Values are copied: the request may still be under way when the
// caller reuses them.
func (db *DB) entriesOf(m *store.RowMutation, own int) (list []entry) {
	byKey := make(map[shards][]store.Mutation, 1)
	for _, mut := range m.Mutations {
		mut.Value = bytes.Clone(mut.Value)
		of := db.group(mut.Group).shards
		byKey[of] = append(byKey[of], mut)
	}
	for of, muts := range byKey {
		part := &store.RowMutation{Row: m.Row, Mutations: muts}
		e := entry{key: mainKey(m.Row), bytes: bytesOf(part)}
		if own == 1 {
			e.key = of.key(m.Row)
		}
		if e.mut, e.ops = db.encode(part); e.ops > 0 {
			list = append(list, e)
		}
	}
	return list
}

// encode turns mutations into operations of Bigtable and counts them.
//
// A Put in a Latest group removes older versions first. If a guard of the same mutation says
// that there are none, it does not have to: so locks leave no traces that reads would have
// to skip.
func (db *DB) encode(m *store.RowMutation) (*bigtable.Mutation, int) {
	out, ops := bigtable.NewMutation(), 0
	for i := range m.Mutations {
		mut := &m.Mutations[i]
		g, column := db.group(mut.Group), string(mut.Column)
		switch {
		case mut.Op == store.Put:
			if g.Latest && mut.TS > 0 && !emptyBelow(m.Absent, mut) {
				out.DeleteTimestampRange(g.family, column, 0, cellTS(mut.TS))
				ops++
			}
			out.Set(g.family, column, cellTS(mut.TS), mut.Value)
		case mut.Op == store.Delete && mut.TS > maxTS:
			continue // no cell has this timestamp
		case mut.Op == store.Delete:
			out.DeleteTimestampRange(g.family, column, cellTS(mut.TS), tsEnd(mut.TS))
		case tsEnd(mut.TS) == 0:
			out.DeleteCellsInColumn(g.family, column)
		default:
			out.DeleteTimestampRange(g.family, column, 0, tsEnd(mut.TS))
		}
		ops++
	}
	return out, ops
}

// emptyBelow reports whether a guard ensures that a column has no older version than a Put.
func emptyBelow(guards []store.Selector, put *store.Mutation) bool {
	for i := range guards {
		s := &guards[i]
		if s.Group == put.Group && !s.Prefix && bytes.Equal(s.Column, put.Column) && s.MinTS == 0 && (s.MaxTS == 0 || s.MaxTS+1 >= put.TS) {
			return true
		}
	}
	return false
}

// The bounds of a request that writes many rows. Bigtable allows 100,000 operations.
const (
	maxSharedRows  = 2000
	maxSharedOps   = 50_000
	maxSharedBytes = 4 << 20
)

// writeCall is a number of rows that wait for their part of a request.
type writeCall struct {
	ctx     context.Context
	entries []entry
	ops     int
	bytes   int
	shared  size // of the request, in its first call

	done chan struct{} // closed when err is set
	err  error
}

type size struct{ rows, ops, bytes int }

// write writes rows, none twice, in as few requests as their size allows.
func (db *DB) write(ctx context.Context, own int, rows []store.RowMutation) error {
	c := newWriteCall(ctx)
	for i := range rows {
		for _, e := range db.entriesOf(&rows[i], own) {
			if len(c.entries) > 0 && (len(c.entries) == maxSharedRows || c.ops+e.ops > maxSharedOps || c.bytes+e.bytes > maxSharedBytes) {
				if err := db.submit(own, c); err != nil {
					return err
				}
				c = newWriteCall(ctx)
			}
			c.entries = append(c.entries, e)
			c.ops += e.ops
			c.bytes += e.bytes
		}
	}
	if len(c.entries) == 0 {
		return nil
	}
	return db.submit(own, c)
}

func newWriteCall(ctx context.Context) *writeCall {
	return &writeCall{ctx: ctx, done: make(chan struct{})}
}

func (db *DB) submit(own int, c *writeCall) error {
	c.shared = size{len(c.entries), c.ops, c.bytes}
	db.writes[own].do(c)
	select {
	case <-c.done:
		return c.err
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
}

func writesFit(calls []*writeCall, c *writeCall) bool {
	s := &calls[0].shared
	sum := size{s.rows + len(c.entries), s.ops + c.ops, s.bytes + c.bytes}
	if sum.rows > maxSharedRows || sum.ops > maxSharedOps || sum.bytes > maxSharedBytes {
		return false
	}
	*s = sum
	return true
}

// sendWrites makes one request of the calls.
func (db *DB) sendWrites(t *bigtable.Table, calls []*writeCall) {
	defer func() {
		for _, c := range calls {
			close(c.done)
		}
	}()
	ctx := db.ctx
	if len(calls) == 1 {
		ctx = calls[0].ctx
	}
	ctx, cancel := db.bounded(ctx)
	defer cancel()
	db.counters.WriteRequests.Add(1)
	if len(calls) == 1 && len(calls[0].entries) == 1 {
		e := calls[0].entries[0]
		calls[0].note(ctx, e, t.Apply(ctx, e.key, e.mut))
		return
	}
	var (
		keys []string
		muts []*bigtable.Mutation
	)
	for _, c := range calls {
		for _, e := range c.entries {
			keys = append(keys, e.key)
			muts = append(muts, e.mut)
		}
	}
	errs, err := t.ApplyBulk(ctx, keys, muts) // errs is nil if no row failed by itself
	for _, c := range calls {
		for i, e := range c.entries {
			failed := err
			if err == nil && errs != nil {
				failed = errs[i]
			}
			c.note(ctx, e, failed)
		}
		errs = errs[min(len(c.entries), len(errs)):]
	}
}

// note keeps the first error of a call.
func (c *writeCall) note(ctx context.Context, e entry, err error) {
	if err != nil && c.err == nil {
		c.err = callError(ctx, fmt.Sprintf("write row %.80q", e.key[1:]), err)
	}
}
