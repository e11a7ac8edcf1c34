package txn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/webindexer/indexer/store"
)

// committing is a transaction in its two-phase commit.
type committing struct {
	t       *Txn
	primary *write
	others  []*write

	mu       sync.Mutex // guards what follows during the prewrites
	locked   []*write   // prewritten, or the outcome is unknown
	lastBeat time.Time  // of the wall time in the primary lock
}

// commitTwoPhase is the paper's Commit (Figure 6, lines 41 to 66). The order of the
// writes makes it safe:
//
//  1. Lock the primary, then the other cells (prewrite.go). After any conflict: undo.
//  2. Take the commit timestamp. All locks are in the table by now, so every
//     reader with a later start timestamp finds a lock or a write.
//  3. Write the notifications of other rows, at the commit timestamp. They come before the
//     commit point, because after it a crash would lose them (fluo#456). If the commit
//     fails, they wake observers that find nothing to do.
//  4. Replace the primary's lock by a write record, together with the
//     notifications of its row and the acknowledgement: the commit point.
//  5. Do the same for the other cells. From here on any process may do it for us.
//  6. Remove the handled notifications, up to the start timestamp. This comes last, because
//     the run is not complete before step 5 (fluo#642).
//
// steps.go lists what a crash before each step leaves behind.
//
// The primary is the trigger of an observer's run, so that the run and its
// acknowledgement become visible together; otherwise it is the first cell written.
func (t *Txn) commitTwoPhase(ctx context.Context) (uint64, error) {
	c := t.plan()
	if c.primary == nil {
		return t.commitNotes(ctx)
	}
	if err := c.checkSize(); err != nil {
		return 0, err
	}
	if err := c.prewrite(ctx); err != nil {
		return 0, c.abort(ctx, err)
	}
	if err := t.db.step(stepCommitTS, Cell{}); err != nil {
		return 0, c.abort(ctx, err)
	}
	commit, err := t.db.next(ctx)
	if err != nil {
		return 0, c.abort(ctx, fmt.Errorf("txn: commit timestamp: %w", err))
	}
	if err := t.db.checkAlive(); err != nil { // all locks are in the table: see gcshared.go
		return 0, c.abort(ctx, err)
	}
	if err := t.sendNotes(ctx, commit, c.otherNotes()); err != nil {
		return 0, c.abort(ctx, err)
	}
	if err := c.commitPrimary(ctx, commit); err != nil {
		return 0, err
	}
	if err := t.db.step(stepPrimaryCommitted, c.primary.cell); err != nil {
		return commit, err
	}
	return commit, c.finish(ctx, commit)
}

// abort undoes the first phase and returns the reason. If the process dies meanwhile,
// abort returns only ErrCrash, because Run must not retry after a crash.
func (c *committing) abort(ctx context.Context, why error) error {
	if errors.Is(why, ErrCrash) {
		return why
	}
	undone := c.undo(ctx)
	if errors.Is(undone, ErrCrash) {
		return undone
	}
	return errors.Join(why, undone)
}

// plan decides which cells are locked, and which one is the primary.
func (t *Txn) plan() *committing {
	c := &committing{t: t, lastBeat: time.Now()}
	cells := slices.Concat(t.writes.order, t.onlyRead())
	for _, tr := range t.triggers {
		if !tr.Strong {
			continue
		}
		i := slices.IndexFunc(cells, func(w *write) bool { return w.cell == tr.Cell })
		if i < 0 {
			i = len(cells)
			cells = append(cells, &write{cell: tr.Cell, op: opLock})
		}
		w := cells[i]
		if c.primary == nil {
			c.primary = w
		}
	}
	if c.primary == nil && len(cells) > 0 {
		c.primary = cells[0]
	}
	if c.primary != nil && c.primary.op == opLock {
		t.lockOnly = c.primary
	}
	for _, w := range cells {
		if w != c.primary {
			c.others = append(c.others, w)
		}
	}
	return c
}

// commitNotes commits a transaction that writes nothing but weak notifications.
func (t *Txn) commitNotes(ctx context.Context) (uint64, error) {
	commit, err := t.db.next(ctx)
	if err != nil {
		return 0, fmt.Errorf("txn: commit timestamp: %w", err)
	}
	if err := t.sendNotes(ctx, commit, t.notes); err != nil {
		return 0, err
	}
	return commit, t.removeHandled(ctx)
}

// otherNotes returns the notifications of all rows except the primary's.
func (c *committing) otherNotes() []note {
	return slices.DeleteFunc(slices.Clone(c.t.notes), func(n note) bool { return n.cell.Row == c.primary.cell.Row })
}

func (t *Txn) sendNotes(ctx context.Context, commit uint64, notes []note) error {
	if err := t.db.step(stepNotify, Cell{}); err != nil {
		return err
	}
	rows := rowSet{}
	for _, n := range notes {
		m := rows.at(n.cell.Row)
		m.Mutations = append(m.Mutations, t.db.notify(n.cell, n.observer, commit))
	}
	if err := t.db.apply(ctx, rows.list); err != nil {
		return fmt.Errorf("txn: send notifications: %w", err)
	}
	return nil
}

// apply writes rows without guards, if there are any.
func (db *DB) apply(ctx context.Context, rows []store.RowMutation) error {
	if len(rows) == 0 {
		return nil
	}
	return db.table.Apply(ctx, rows)
}

// record returns w's lock without the fields that tell whether its owner is alive.
func (c *committing) record(w *write) lockRecord {
	l := lockRecord{start: c.t.start, op: w.op, primary: c.primary.cell, acks: c.t.strongAt(w.cell)}
	if w.op == opPut && len(w.value) <= c.t.db.opts.inline {
		l.inline, l.value = true, w.value
	}
	return l
}

// commitLock turns a lock into the write record that it announced, and the
// acknowledgement. Other transactions ask later only about the outcome of a primary,
// so only a primary that was merely locked gets a record of its commit.
func commitLock(c Column, l lockRecord, commit uint64, primary bool) []store.Mutation {
	ms := []store.Mutation{{Op: store.Delete, Group: lockGroup, Column: sideColumn(c), TS: l.start}}
	rec := writeRecord{op: l.op, start: l.start, inline: l.inline, value: l.value}
	switch {
	case l.op == opPut || l.op == opDelete:
		ms = append(ms, store.Mutation{Op: store.Put, Group: c.Group, Column: recordColumn(kindWrite, c.Name), TS: commit, Value: rec.encode()})
	case primary:
		ms = append(ms, store.Mutation{Op: store.Put, Group: c.Group, Column: recordColumn(kindLockOnly, c.Name), TS: commit, Value: rec.encode()})
	}
	if l.op == opRead {
		ms = append(ms, readForUpdate(c, commit))
	}
	for _, o := range l.acks {
		ms = append(ms, store.Mutation{Op: store.Put, Group: ackGroup, Column: observerColumn(c, o), TS: l.start})
	}
	return ms
}

// finish does everything after the commit point. An error here does not fail the
// transaction: it has committed, and the next transaction that finds one of its locks
// rolls it forward. finish returns only an error of Options.Step.
//
// A process that others may consider dead leaves the locks to them. They may have rolled a cell
// forward, and collected that version when a deletion had replaced it. Writing that version
// again now would bring it back. That can still happen to a process that is stopped between this
// check and its writes. Only a guard on each of them would prevent it, and no engine has guards
// for writes of many rows.
func (c *committing) finish(ctx context.Context, commit uint64) error {
	if c.t.db.checkAlive() != nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	if c.t.db.opts.Step == nil {
		if err := c.finishAtOnce(ctx, commit); err != nil {
			return nil // committed, as below
		}
		return c.t.removeHandled(ctx)
	}
	for _, w := range c.others {
		if err := c.t.db.step(stepCommitSecondary, w.cell); err != nil {
			return err
		}
		if err := c.applyTo(ctx, w.cell, commitLock(w.cell.Column, c.record(w), commit, false)); err != nil {
			return nil // committed; readers roll the remaining locks forward, and the trigger stays until then
		}
		if err := c.t.db.step(stepSecondaryCommitted, w.cell); err != nil {
			return err
		}
	}
	return c.t.removeHandled(ctx)
}

// finishAtOnce commits all secondary cells with one write of many rows.
func (c *committing) finishAtOnce(ctx context.Context, commit uint64) error {
	if len(c.others) == 0 {
		return nil
	}
	rows := make([]store.RowMutation, len(c.others))
	for i, w := range c.others {
		rows[i] = store.RowMutation{Row: []byte(w.cell.Row), Mutations: commitLock(w.cell.Column, c.record(w), commit, false)}
	}
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	return c.t.db.table.Apply(ctx, rows)
}

// applyTo changes the row of a cell, with a time limit: it runs when the end of
// the caller's context no longer counts.
func (c *committing) applyTo(ctx context.Context, cell Cell, ms []store.Mutation) error {
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	return applyRow(ctx, c.t.db.table, []byte(cell.Row), ms...)
}

// removeHandled removes the notifications that this transaction has handled.
func (t *Txn) removeHandled(ctx context.Context) error {
	if len(t.triggers) == 0 {
		return nil
	}
	if err := t.db.step(stepUnnotify, Cell{}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	rows := rowSet{}
	for _, tr := range t.triggers {
		m := rows.at(tr.Cell.Row)
		m.Mutations = append(m.Mutations, t.db.unnotify(tr.Cell, tr.Observer, t.start)...)
	}
	if err := t.db.apply(ctx, rows.list); err != nil {
		return nil // committed; the notification leads to one more run, which finds nothing to do
	}
	return nil
}
