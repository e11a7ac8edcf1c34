package notify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"indexer/txn"
)

// run takes a batch through one transaction, and decides what becomes of its
// rows.
func (p *Pipeline) run(ctx context.Context, batch []*entry) {
	o := &p.registry.list[batch[0].observer]
	m := &p.meters[batch[0].observer]
	began := time.Now()
	start, err := p.attempt(ctx, o, batch)
	switch {
	case err == nil:
		took := time.Since(began)
		m.ran(len(batch), took, began.Sub(batch[0].since))
		if p.opts.Events.Ran != nil {
			p.opts.Events.Ran(o.Name, len(batch), took)
		}
		for _, e := range batch {
			p.queue.finished(e, start)
		}
	case errors.Is(err, txn.ErrConflict) || errors.Is(err, txn.ErrUnknown):
		m.conflicts.Add(1)
		if p.opts.Events.Conflict != nil {
			p.opts.Events.Conflict(o.Name, rowsOf(batch), err)
		}
		p.again(batch, false)
	case fatal(err) || ctx.Err() != nil:
		p.fail(fmt.Errorf("notify: observer %s: %w", o.Name, err))
		p.again(batch, false)
	default:
		m.failures.Add(1)
		if p.opts.Events.Failed != nil {
			p.opts.Events.Failed(o.Name, rowsOf(batch), batch[0].attempts+1, err)
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

// attempt runs the observer on a batch in one transaction and commits it.
func (p *Pipeline) attempt(ctx context.Context, o *Observer, batch []*entry) (start uint64, err error) {
	tx, err := p.db.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	rows, err := p.unanswered(ctx, tx, o, batch)
	if err != nil {
		return 0, err
	}
	for _, e := range batch {
		tx.Answer(txn.Trigger{
			Cell: txn.Cell{Row: e.row, Column: o.Watches}, Observer: o.Name, TS: e.newest,
			Strong: !o.Weak && rows[e.row],
		})
	}
	p.revive(tx, o.Name, batch)
	if work := keep(batch, rows); len(work) > 0 {
		if err := protect(ctx, o, tx, work); err != nil {
			return 0, err
		}
	}
	_, err = tx.Commit(ctx)
	return tx.Start(), err
}

// unanswered tells which rows have a notification that no run has acknowledged
// yet; only found ones of an earlier process or worker ever have.
func (p *Pipeline) unanswered(ctx context.Context, tx *txn.Txn, o *Observer, batch []*entry) (map[string]bool, error) {
	rows := make(map[string]bool, len(batch))
	for _, e := range batch {
		if o.Weak {
			rows[e.row] = true
			continue
		}
		ack, err := tx.Acknowledged(ctx, txn.Cell{Row: e.row, Column: o.Watches}, o.Name)
		if err != nil {
			return nil, err
		}
		rows[e.row] = ack < e.newest
	}
	return rows, nil
}

func keep(batch []*entry, wanted map[string]bool) []string {
	var rows []string
	for _, e := range batch {
		if wanted[e.row] {
			rows = append(rows, e.row)
		}
	}
	return rows
}

// protect runs the observer and turns a panic in it into an error: one page
// that trips a bug must not take the process down.
func protect(ctx context.Context, o *Observer, tx *txn.Txn, rows []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return o.Run(ctx, tx, rows)
}

// again gives rows back after a moment. A batch is split: whichever of its rows
// was the cause, the others are not held up by it.
func (p *Pipeline) again(batch []*entry, failure bool) {
	for _, e := range batch {
		e.alone = true
		e.attempts++
		delay := 2 * time.Millisecond << min(e.attempts, 9)
		if failure {
			delay *= 10
		}
		delay = delay/2 + rand.N(delay/2)
		p.queue.requeue(e, delay)
	}
}

// failedRun retries a failed row some times and then sets it aside.
func (p *Pipeline) failedRun(ctx context.Context, o *Observer, batch []*entry, cause error) {
	if len(batch) > 1 {
		for _, e := range batch {
			e.alone = true
			p.queue.requeue(e, 0)
		}
		return
	}
	e := batch[0]
	e.failures++
	if e.failures < p.opts.Attempts {
		p.again(batch, true)
		return
	}
	start, err := p.bury(ctx, o, e, cause)
	if err != nil {
		if fatal(err) {
			p.fail(fmt.Errorf("notify: observer %s: %w", o.Name, err))
		}
		p.again(batch, true)
		return
	}
	if p.opts.Events.Dead != nil {
		p.opts.Events.Dead(o.Name, e.row, cause)
	}
	p.queue.finished(e, start)
}
