package notify

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/webindexer/indexer/txn"
)

// run takes a batch through one transaction, and decides what happens to its
// rows. In every case, each row returns to the queue.
func (p *Pipeline) run(ctx context.Context, batch []*entry) {
	if p.shared != nil {
		p.runShared(ctx, batch)
		return
	}
	p.runClaimed(ctx, batch)
}

// runClaimed is run for rows that no other process has.
func (p *Pipeline) runClaimed(ctx context.Context, batch []*entry) {
	o := &p.registry.list[batch[0].observer]
	a := Attempt{Observer: o.Name, Began: time.Now(), Err: errGoexit}
	a.Waited = a.Began.Sub(batch[0].since)
	defer func() {
		a.Took = time.Since(a.Began)
		p.report(batch, a)
		if p.shared != nil {
			p.unlock(ctx, batch)
		}
		p.ended(ctx, o, batch, a)
	}()
	a.Err = p.attempt(ctx, o, batch, &a)
}

// ended returns the rows of a run to the queue.
func (p *Pipeline) ended(ctx context.Context, o *Observer, batch []*entry, a Attempt) {
	m, err := &p.meters[batch[0].observer], a.Err
	switch {
	case err == nil:
		if len(a.Rows) > 0 {
			m.ran(len(a.Rows), a.Took, a.Waited)
			if p.opts.Events.Ran != nil {
				p.opts.Events.Ran(o.Name, len(a.Rows), a.Took)
			}
		}
		p.queue.finished(batch)
	case errors.Is(err, errEarly):
		p.queue.requeue(batch, time.Millisecond)
	case errors.Is(err, ErrNotHeld), slices.ContainsFunc(batch, func(e *entry) bool { return !p.mine(o, e.row) }):
		p.queue.leave(batch) // the next holder finds the rows in the table
	case ctx.Err() != nil:
		p.queue.requeue(batch, 0)
	case fatal(err): // even if the outcome is unknown
		p.Fail(fmt.Errorf("notify: observer %s: %w", o.Name, err))
		p.queue.requeue(batch, 0)
	case errors.Is(err, txn.ErrConflict) || errors.Is(err, txn.ErrUnknown):
		m.conflicts.Add(1)
		if p.opts.Events.Conflict != nil {
			p.opts.Events.Conflict(o.Name, rowsOf(batch), err)
		}
		p.conflicted(batch, err)
	default:
		m.failures.Add(1)
		if p.opts.Events.Failed != nil {
			p.opts.Events.Failed(o.Name, rowsOf(batch), batch[0].failures+1, err)
		}
		p.failedRun(ctx, o, batch, err)
	}
}

func rowsOf(batch []*entry) []string {
	rows := make([]string, len(batch))
	for i, e := range batch {
		rows[i] = e.row
	}
	return rows
}

// attempt runs the observer on a batch in one transaction and commits it. It sets the
// timestamps of a, and the rows on which the observer ran; the rest had been handled before.
func (p *Pipeline) attempt(ctx context.Context, o *Observer, batch []*entry, a *Attempt) error {
	leased, err := p.enter(ctx, o, batch)
	if err != nil {
		return err
	}
	defer leased.Leave()
	tx, err := p.db.Begin(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errBegin, err)
	}
	defer tx.Rollback()
	a.Start = tx.Start()
	rows := make([]string, 0, len(batch))
	for _, e := range batch {
		open, err := p.needsRun(ctx, tx, o, e)
		if err != nil {
			return err
		}
		if open {
			rows = append(rows, e.row)
			tx.AddTrigger(txn.Trigger{Cell: txn.Cell{Row: e.row, Column: o.Watches}, Observer: o.Name, TS: e.newest, Strong: !o.Weak})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	a.Rows = rows
	if err := leased.Guard(ctx, tx); err != nil {
		return err
	}
	if err := p.clearDeadLetters(ctx, tx, o.Name, rows); err != nil {
		return err
	}
	if err := protect(ctx, o, tx, rows); err != nil {
		return err
	}
	a.Commit, err = tx.Commit(ctx)
	return err
}

// needsRun reports whether tx must run a row, and sets the timestamp up to which the
// row is then handled.
//
// If an earlier run has acknowledged every known notification, the notification is
// only removed, and only up to the acknowledgement: a later change, of which
// this process does not know yet, may have renewed it. (A run removes it up to
// its start timestamp, because the run sees that change.)
func (p *Pipeline) needsRun(ctx context.Context, tx *txn.Txn, o *Observer, e *entry) (bool, error) {
	if tx.Start() < e.newest {
		return false, errEarly
	}
	e.covered = tx.Start()
	if o.Weak || !e.doubtful {
		return true, nil
	}
	cell := txn.Cell{Row: e.row, Column: o.Watches}
	ack, err := tx.Acknowledged(ctx, cell, o.Name)
	if err != nil || ack < e.newest {
		return true, err
	}
	e.covered = ack
	return false, p.db.Forget(ctx, txn.Notification{Cell: cell, Observer: o.Name, TS: ack})
}

// protect runs the observer and turns a panic in it into an error: one page
// that triggers a bug must not end the process.
func protect(ctx context.Context, o *Observer, tx *txn.Txn, rows []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return o.Run(ctx, tx, rows)
}

// Attempt is one transaction of an observer, however it ended. A trace of a row
// consists of attempts. Events.Tried receives each.
type Attempt struct {
	Observer string
	// Rows are the rows on which the observer ran, or would have run.
	Rows []string
	// Start is its start timestamp, 0 if it could not begin; Commit its commit
	// timestamp, 0 if it did not commit or if the outcome is unknown.
	Start, Commit uint64
	Began         time.Time
	Took          time.Duration // from Began to the end of the commit
	Waited        time.Duration // of the first row, from hearing of its notification to Began
	Err           error         // why it did not commit
}

// report passes an attempt on to Events.Tried, unless there was nothing to run.
func (p *Pipeline) report(batch []*entry, a Attempt) {
	if p.opts.Events.Tried == nil || a.Err == nil && len(a.Rows) == 0 || errors.Is(a.Err, errEarly) {
		return
	}
	if len(a.Rows) == 0 {
		a.Rows = rowsOf(batch)
	}
	p.opts.Events.Tried(a)
}
