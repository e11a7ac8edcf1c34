package notify

import (
	"context"

	"indexer/txn"
)

// scanChunk is how many notifications are read from the table at a time.
const scanChunk = 1000

// scan hands all notifications in the table to the queue. What does not fit
// stays in the table; the queue remembers that it overflowed. Notifications of
// observers that no longer exist are removed.
func (p *Pipeline) scan(ctx context.Context) error {
	p.queue.clearOverflow()
	for from := ""; ; {
		notes, next, err := p.db.Notifications(ctx, from, scanChunk)
		if err != nil {
			return err
		}
		for _, n := range p.queue.add(notes) {
			if err := p.db.Forget(ctx, n); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		from = next
	}
}

func (q *queue) clearOverflow() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.overflow = false
}

// Quiesce waits until nothing is left to do: no row waiting or running, none
// being handed over, no notification in the table. It is for callers that
// themselves have no transaction under way. It returns the timestamp up to
// which everything is done, or the error that stopped the pipeline.
//
// An empty queue is not enough: a transaction may have committed and not handed
// over yet. So the table is scanned too, and if any timestamp was taken
// meanwhile, by a transaction that began or committed, it is scanned again.
func (p *Pipeline) Quiesce(ctx context.Context) (ts uint64, err error) {
	for {
		if err := p.waitEmpty(ctx); err != nil {
			return 0, err
		}
		before := p.db.LastTimestamp()
		notes, _, err := p.db.Notifications(ctx, "", scanChunk)
		if err != nil {
			return 0, err
		}
		if len(notes) == 0 && p.db.LastTimestamp() == before {
			return before, nil
		}
		for _, n := range p.queue.add(notes) {
			if err := p.db.Forget(ctx, n); err != nil {
				return 0, err
			}
		}
	}
}

// waitEmpty waits until the queue is empty.
func (p *Pipeline) waitEmpty(ctx context.Context) error {
	return p.queue.wait(ctx, p, func(q *queue) bool { return len(q.entries) == 0 })
}

// Admit waits until the backlog is below its bound: a loader calls it before
// each transaction, so that it does not run away from the observers. With a
// full backlog it lets callers in again when a tenth of it is done.
func (p *Pipeline) Admit(ctx context.Context) error {
	full := false
	return p.queue.wait(ctx, p, func(q *queue) bool {
		bound := p.opts.Backlog
		if full {
			bound -= bound / 10
		}
		full = len(q.entries) >= bound
		return !full
	})
}

// wait waits for a condition on the queue, or the end of ctx or pipeline.
func (q *queue) wait(ctx context.Context, p *Pipeline, done func(*queue) bool) error {
	stop := context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.changed.Broadcast()
	})
	defer stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := p.Err(); err != nil {
			return err
		}
		if done(q) {
			return nil
		}
		if q.closed {
			return txn.ErrClosed
		}
		q.changed.Wait()
	}
}
