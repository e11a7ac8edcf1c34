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
	began := time.Now()
	t, err := tried{}, errGoexit
	defer func() {
		took := time.Since(began)
		p.reportAttempt(o, batch, began, took, t, err)
		if p.shared != nil {
			p.unlock(ctx, batch)
		}
		p.ended(ctx, o, batch, began, took, len(t.rows), err)
	}()
	err = p.attempt(ctx, o, batch, &t)
}

// ended returns the rows of a run to the queue.
func (p *Pipeline) ended(ctx context.Context, o *Observer, batch []*entry, began time.Time, took time.Duration, ran int, err error) {
	m := &p.meters[batch[0].observer]
	switch {
	case err == nil:
		if ran > 0 {
			m.ran(ran, took, began.Sub(batch[0].since))
			if p.opts.Events.Ran != nil {
				p.opts.Events.Ran(o.Name, ran, took)
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

// attempt runs the observer on a batch in one transaction and commits it. It
// records the rows on which the observer ran; the rest had been handled before.
func (p *Pipeline) attempt(ctx context.Context, o *Observer, batch []*entry, t *tried) error {
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
	t.start = tx.Start()
	rows := make([]string, 0, len(batch))
	for _, e := range batch {
		open, err := p.needsRun(ctx, tx, o, e)
		if err != nil {
			return err
		}
		if open {
			rows = append(rows, e.row)
			tx.Answer(txn.Trigger{Cell: txn.Cell{Row: e.row, Column: o.Watches}, Observer: o.Name, TS: e.newest, Strong: !o.Weak})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	t.rows = rows
	if err := leased.Guard(ctx, tx); err != nil {
		return err
	}
	if err := p.clearDeadLetters(ctx, tx, o.Name, rows); err != nil {
		return err
	}
	if err := protect(ctx, o, tx, rows); err != nil {
		return err
	}
	t.commit, err = tx.Commit(ctx)
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

// tried holds what attempt finds out on its way.
type tried struct {
	rows          []string // on which the observer ran; the rest had been handled before
	start, commit uint64
}

// reportAttempt reports an attempt.
func (p *Pipeline) reportAttempt(o *Observer, batch []*entry, began time.Time, took time.Duration, t tried, err error) {
	if p.opts.Events.Tried == nil || err == nil && len(t.rows) == 0 || errors.Is(err, errEarly) {
		return
	}
	if len(t.rows) == 0 {
		t.rows = rowsOf(batch)
	}
	p.opts.Events.Tried(Attempt{
		Observer: o.Name, Rows: t.rows, Start: t.start, Commit: t.commit,
		Began: began, Took: took, Waited: began.Sub(batch[0].since), Err: err,
	})
}
