package txn

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

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
// The guards and the writes are one atomic mutation of the row. The primary's row comes first:
// a lock whose primary has no record at all counts as abandoned (decide). The primary is
// also the first cell in it, so that undo removes its lock last.
//
// The other rows follow concurrently, several at a time. Their order does not matter:
// transactions do not follow a common order anyway, because each begins with its own
// primary. There is no deadlock, because a transaction that finds a lock gives up instead
// of waiting. Concurrency matters because the transaction for a batch of pages locks two
// hundred rows: with a store that is 2 ms away, locking one row after the other would hold
// the first ones for half a second, while their readers wait.
func (c *committing) prewrite(ctx context.Context) error {
	groups := c.byRow()
	if err := c.prewriteGroup(ctx, groups[0]); err != nil {
		return err
	}
	if rest := groups[1:]; len(rest) > 1 && c.t.db.opts.Step == nil {
		return c.prewriteAtOnce(ctx, rest)
	}
	for _, cells := range groups[1:] {
		if err := c.prewriteGroup(ctx, cells); err != nil {
			return err
		}
	}
	return nil
}

// prewritesAtOnce is how many rows a transaction locks at the same time. Each occupies
// a connection of a database, and a process has sixteen by default.
const prewritesAtOnce = 8

// prewriteAtOnce locks rows at the same time. After a failure it begins no other row. It
// returns only when all its writes have ended, because undo must come after every lock.
func (c *committing) prewriteAtOnce(ctx context.Context, groups [][]*write) error {
	var g errgroup.Group
	var failed atomic.Bool
	g.SetLimit(prewritesAtOnce)
	for _, cells := range groups {
		if failed.Load() {
			break
		}
		g.Go(func() error {
			err := c.prewriteGroup(ctx, cells)
			if err != nil {
				failed.Store(true)
			}
			return err
		})
	}
	return g.Wait()
}

// prewriteGroup locks cells of one row, one by one if they are too many for the table.
func (c *committing) prewriteGroup(ctx context.Context, cells []*write) error {
	err := c.prewriteRow(ctx, cells)
	if !errors.Is(err, store.ErrTooLarge) || len(cells) == 1 {
		return err
	}
	for i := range cells { // nothing was written
		if err := c.prewriteRow(ctx, cells[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// The bounds of what one mutation locks in a row. A table in a database has limits for the
// guards of a mutation, and each cell has up to five.
const (
	maxRowCells = 30
	maxRowBytes = 1 << 20
)

// byRow divides the cells by row. With Options.Step, each cell is a group of its own, so that
// there is a step between any two.
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
	res, err := c.t.db.table.Mutate(ctx, m)
	if res.Outcome != store.Refused && !errors.Is(err, store.ErrTooLarge) { // if the outcome is unknown, they may be locked
		c.mu.Lock()
		c.locked = append(c.locked, cells...)
		c.mu.Unlock()
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
	rec := c.record(w)
	rec.token, rec.wall = c.t.db.liveness.Token(), time.Now()
	return store.Mutation{Op: store.Put, Group: lockGroup, Column: sideColumn(w.cell.Column), TS: c.t.start, Value: rec.encode()}
}

// heartbeat renews the wall time in the primary lock when a third of its time
// to live has passed, so that a long commit is not mistaken for a dead one.
func (c *committing) heartbeat(ctx context.Context) error {
	c.mu.Lock()
	due := len(c.locked) > 0 && time.Since(c.lastBeat) >= c.t.db.opts.LockTTL/3
	if due {
		c.lastBeat = time.Now()
	}
	c.mu.Unlock()
	if !due {
		return nil
	}
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
// undo continues after the end of the context, but at most for finishTimeout, so that the
// process can end. Later transactions resolve the remaining locks.
func (c *committing) undo(ctx context.Context) error {
	ended, ctx := ctx.Done(), context.WithoutCancel(ctx)
	began := time.Now()
	var errs []error
	if c.t.db.opts.Step == nil {
		c.undoAtOnce(ctx)
	}
	for i := len(c.locked) - 1; i >= 0; i-- {
		select {
		case <-ended:
			if time.Since(began) > finishTimeout {
				return errors.Join(append(errs, fmt.Errorf("roll back: %d locks remain; later transactions resolve them", i+1))...)
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

// undoAtOnce rolls back all locks but the primary's with one write of many rows. If that
// fails, undo rolls them back one by one; rolling back twice does no harm.
func (c *committing) undoAtOnce(ctx context.Context) {
	var rows []store.RowMutation
	var rest []*write
	for _, w := range c.locked {
		if w == c.primary {
			rest = append(rest, w)
			continue
		}
		c.t.db.gc.queue.add(w.cell, c.t.start+1)
		rows = append(rows, store.RowMutation{Row: []byte(w.cell.Row), Mutations: rollback(w.cell.Column, c.t.start)})
	}
	if len(rows) < 2 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()
	if err := c.t.db.table.Apply(ctx, rows); err == nil {
		c.locked = rest
	}
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
