package notify

import (
	"context"
	"errors"
	"time"
)

// Admit waits until observers have caught up. A loader calls it before each
// transaction, so that it does not run ahead of the observers. Two bounds apply:
//
//   - Backlog, the number of waiting rows. If the backlog is full, Admit admits callers
//     again when a tenth of it is done. Debounced rows do not count.
//   - MaxWait, the age of the oldest row that only needs a worker. Rows that
//     wait for another reason do not count, because loading less would not help them:
//     debounced rows, rows that back off, and rows of an exclusive observer
//     that is running.
//
// A caller that waits because the backlog is full lets debounced rows run as soon as
// their upstream has no work, because they may fill it. One that waits because of an
// old row does not: more rows to run would make it wait longer, and the pages loaded
// afterwards would have to change again the rows that ran too early. (A crawl on a
// busy machine wrote each document three times for this reason.)
//
// Both bounds are soft: every admitted caller adds to the backlog. With a Stepper
// Admit admits every caller, because no worker runs while it waits.
//
// Errors: the cause of ctx's end, ErrStopped, or the failure that stopped the pipeline.
func (p *Pipeline) Admit(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if p.shared != nil {
		return p.admitShared(ctx)
	}
	rows := p.opts.Backlog
	open, full, err := p.below(rows)
	if open || err != nil {
		return err
	}
	rows -= rows / 10
	caughtUp := func(q *queue) bool { return q.caughtUp(rows, p.opts.MaxWait) }
	if full {
		return p.wait(ctx, caughtUp)
	}
	return p.stopReason(p.queue.wait(ctx, caughtUp))
}

// below reports whether a caller is admitted now, and if not, whether the backlog is full.
func (p *Pipeline) below(rows int) (open, full bool, err error) {
	q := p.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false, false, p.whyStopped()
	}
	return q.eager || q.caughtUp(rows, p.opts.MaxWait), q.backlog() >= rows, nil
}

// caughtUp reports whether fewer rows wait than given, and none of them for too long. It
// becomes true again when a worker takes the oldest row, which tells the watchers.
func (q *queue) caughtUp(rows int, maxWait time.Duration) bool {
	return q.backlog() < rows && q.oldestReady(time.Now()) < maxWait
}

// oldestReady is how long the oldest row that only needs a worker has waited. Workers
// take the rows of an observer in the order of its heap, so it is enough to look at the
// first row of each heap.
func (q *queue) oldestReady(now time.Time) (oldest time.Duration) {
	for _, h := range q.ready {
		if len(h) > 0 && q.mayRun(h[0]) {
			oldest = max(oldest, now.Sub(h[0].readySince))
		}
	}
	return oldest
}

// wait waits on the queue, and returns the reason if the pipeline stopped by itself.
func (p *Pipeline) wait(ctx context.Context, done func(*queue) bool) error {
	defer p.queue.addWaiter()()
	return p.stopReason(p.queue.wait(ctx, done))
}

// stopReason replaces ErrStopped by the reason if the pipeline stopped by itself.
func (p *Pipeline) stopReason(err error) error {
	if errors.Is(err, ErrStopped) {
		return p.whyStopped()
	}
	return err
}

func (p *Pipeline) whyStopped() error {
	if err := p.Err(); err != nil {
		return err
	}
	return ErrStopped
}
