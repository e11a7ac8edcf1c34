package notify

import (
	"context"
	"errors"
	"time"
)

// Admit waits until observers have caught up: a loader calls it before each
// transaction, so that it does not run away from them. Two bounds hold it back:
//
//   - Backlog, the number of rows that wait. With a full backlog Admit lets callers in
//     again when a tenth of it is done. Rows that are held for collapsing do not
//     count.
//   - MaxWait, the age of the oldest row that needs nothing but a worker. Rows that
//     wait for something else do not count, because loading less would not help them:
//     those held for collapsing or backing off, and those of an exclusive observer
//     that is running.
//
// Both are soft: every caller that was let in adds to the backlog. With a Stepper
// Admit lets everybody in: nobody works while it waits.
//
// Errors: the cause of ctx's end, ErrStopped, or what stopped the pipeline.
func (p *Pipeline) Admit(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	rows := p.opts.Backlog
	if open, err := p.below(rows); open || err != nil {
		return err
	}
	rows -= rows / 10
	return p.wait(ctx, func(q *queue) bool { return q.caughtUp(rows, p.opts.MaxWait) })
}

func (p *Pipeline) below(rows int) (bool, error) {
	q := p.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false, p.whyStopped()
	}
	return q.eager || q.caughtUp(rows, p.opts.MaxWait), nil
}

// caughtUp reports whether fewer rows wait than given, none of them for too long. It
// becomes true again when a worker takes the oldest row, which tells the watchers.
func (q *queue) caughtUp(rows int, maxWait time.Duration) bool {
	return q.backlog() < rows && q.oldestReady(time.Now()) < maxWait
}

// oldestReady is how long the oldest row has waited that only needs a worker. Workers
// take the rows of an observer in the order of its heap, so the first one of each heap
// stands for the others.
func (q *queue) oldestReady(now time.Time) (oldest time.Duration) {
	for _, h := range q.ready {
		if len(h) > 0 && q.mayRun(h[0]) {
			oldest = max(oldest, now.Sub(h[0].readySince))
		}
	}
	return oldest
}

// wait is the queue's, with the reason if the pipeline stopped by itself.
func (p *Pipeline) wait(ctx context.Context, done func(*queue) bool) error {
	defer p.queue.addWaiter()()
	err := p.queue.wait(ctx, done)
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
