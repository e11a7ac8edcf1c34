package txn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/webindexer/indexer/store"
)

// prewrite locks the cells of a transaction, row by row, and writes their values, unless one
// of them has
//
//   - a write after our start, which we did not see (paper, line 32). A cell
//     that is only locked may have been written: the run that it triggered
//     handles the state that it saw, and the notification of the newer write stays;
//   - a commit after our start that read the cell for update (forupdate.go);
//   - a lock at any timestamp (line 34);
//   - a rollback of this same transaction, because another process considered us dead.
//     Rollbacks of other transactions do not matter.
//
// The guards and the writes are one atomic mutation of the row. The primary's row comes first,
// and the primary first in it, so that undo removes the primary's lock last.
func (c *committing) prewrite(ctx context.Context) error {
	for _, cells := range c.byRow() {
		err := c.prewriteRow(ctx, cells)
		if errors.Is(err, store.ErrTooLarge) && len(cells) > 1 {
			err = nil // nothing happened
			for i := range cells {
				if err = c.prewriteRow(ctx, cells[i:i+1]); err != nil {
					break
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// The bounds of what is locked at a time in one row. A table in a database has limits for the
// guards of a mutation, and each cell has up to five.
const (
	maxRowCells = 30
	maxRowBytes = 1 << 20
)

// byRow divides the cells by row. With Options.Step, each stands alone, so that there is a step
// between any two.
func (c *committing) byRow() [][]*write {
	type place struct{ at, bytes int }
	var (
		list [][]*write
		last = map[string]place{} // the last group of a row
	)
	add := func(w *write) {
		p, ok := last[w.cell.Row]
		if !ok || c.t.db.opts.Step != nil || len(list[p.at]) == maxRowCells || p.bytes+len(w.value) > maxRowBytes {
			p = place{at: len(list)}
			list = append(list, nil)
		}
		list[p.at] = append(list[p.at], w)
		p.bytes += len(w.value)
		last[w.cell.Row] = p
	}
	add(c.primary)
	for _, w := range c.others {
		add(w)
	}
	return list
}

// prewriteRow locks cells of one row.
func (c *committing) prewriteRow(ctx context.Context, cells []*write) error {
	first := cells[0].cell
	if err := c.t.db.step(stepPrewrite, first); err != nil {
		return err
	}
	if err := c.heartbeat(ctx); err != nil {
		return err
	}
	m := store.RowMutation{Row: []byte(first.Row)}
	for _, w := range cells {
		m.Absent = append(m.Absent, c.prewriteGuards(w)...)
		m.Mutations = append(m.Mutations, c.lock(w))
		if w.op == opPut && len(w.value) > c.t.db.opts.inline {
			m.Mutations = append(m.Mutations, store.Mutation{
				Op: store.Put, Group: w.cell.Group, Column: recordColumn(kindData, w.cell.Name), TS: c.t.start, Value: w.value,
			})
		}
	}
	c.locked = append(c.locked, cells...) // before we know: with an unknown outcome they may be
	res, err := c.t.db.table.Mutate(ctx, m)
	if res.Outcome == store.Refused || errors.Is(err, store.ErrTooLarge) {
		c.locked = c.locked[:len(c.locked)-len(cells)] // certainly not
	}
	if err != nil {
		return fmt.Errorf("txn: prewrite %s: %w", first, err)
	}
	if res.Outcome == store.Refused {
		return c.t.refused(ctx, res)
	}
	return c.t.db.step(stepPrewritten, first)
}

func (c *committing) prewriteGuards(w *write) []store.Selector {
	lock := unlocked(w.cell.Column)
	guards := make([]store.Selector, 0, 4)
	guards = append(guards, lock,
		store.Selector{Group: w.cell.Group, Column: recordColumn(kindRollback, w.cell.Name), MinTS: c.t.start, MaxTS: c.t.start})
	if w.op != opLock {
		guards = append(guards, c.t.unwritten(w.cell.Column), c.t.unread(lock.Column))
	}
	return append(guards, c.t.ackGuards(w.cell)...)
}

// lock is the mutation that writes w's lock, with the wall time of now.
func (c *committing) lock(w *write) store.Mutation {
	rec := lockRecord{
		op: w.op, primary: c.primary.cell, token: c.t.db.liveness.Token(), wall: time.Now(), acks: c.t.strongAt(w.cell),
	}
	if w.op == opPut && len(w.value) <= c.t.db.opts.inline {
		rec.inline, rec.value = true, w.value
	}
	return store.Mutation{Op: store.Put, Group: lockGroup, Column: sideColumn(w.cell.Column), TS: c.t.start, Value: rec.encode()}
}

// heartbeat renews the wall time in the primary lock when a third of its time
// to live has passed, so that a long commit is not mistaken for a dead one.
func (c *committing) heartbeat(ctx context.Context) error {
	if len(c.locked) == 0 || time.Since(c.beat) < c.t.db.opts.LockTTL/3 {
		return nil
	}
	c.beat = time.Now()
	p := c.primary
	res, err := c.t.db.table.Mutate(ctx, store.RowMutation{
		Row:       []byte(p.cell.Row),
		Require:   c.primaryLock(),
		Mutations: []store.Mutation{c.lock(p)},
	})
	if err != nil {
		return fmt.Errorf("txn: heartbeat at %s: %w", p.cell, err)
	}
	if res.Outcome == store.Refused {
		return c.rolledBack()
	}
	return nil
}

// undo rolls back the locks that were written. The owner may do so without checking: as long
// as the primary has not committed, no other process can have committed any cell.
// The primary comes last, so that after a crash in between each remaining lock has a
// primary that still says what happened.
//
// undo continues after the end of the context, but at most for patience, because a process
// that is told to end must end. Later transactions resolve the remaining locks.
func (c *committing) undo(ctx context.Context) error {
	ended, ctx := ctx.Done(), context.WithoutCancel(ctx)
	began := time.Now()
	var errs []error
	for i := len(c.locked) - 1; i >= 0; i-- {
		select {
		case <-ended:
			if time.Since(began) > patience {
				return errors.Join(append(errs, fmt.Errorf("roll back: %d locks remain, and later transactions resolve them", i+1))...)
			}
		default:
		}
		cell := c.locked[i].cell
		if err := c.t.db.step(stepUndo, cell); err != nil {
			return errors.Join(append(errs, err)...)
		}
		c.t.db.gc.queue.add(cell, c.t.start+1)
		if err := c.applyTo(ctx, cell, rollback(cell.Column, c.t.start)); err != nil {
			errs = append(errs, fmt.Errorf("roll back %s: %w", cell, err))
			if errors.Is(err, context.DeadlineExceeded) {
				break // the table hangs; later transactions resolve the remaining locks
			}
		}
	}
	return errors.Join(errs...)
}

// rollback removes a transaction's traces at a column and leaves the record that
// rejects a late prewrite (tikv#7364 shows what happens without it).
func rollback(c Column, start uint64) []store.Mutation {
	return []store.Mutation{
		{Op: store.Delete, Group: lockGroup, Column: sideColumn(c), TS: start},
		{Op: store.Delete, Group: c.Group, Column: recordColumn(kindData, c.Name), TS: start},
		{Op: store.Put, Group: c.Group, Column: recordColumn(kindRollback, c.Name), TS: start},
	}
}
