package notify

import (
	"context"
	"time"
)

// watcher waits for a condition on the queue. The goroutine that changes
// the queue tests the conditions, so that it wakes no watcher too early.
type watcher struct {
	done func(*queue) bool // called with mu held; must be quick
	met  chan struct{}     // closed once done was true, or the queue closed
}

// tellWatchers is called with mu held after anything that can make a condition
// true: a worker takes rows, runs end, there are to be more workers, the queue is closed.
func (q *queue) tellWatchers() {
	for w := range q.watchers {
		if q.closed || w.done(q) {
			close(w.met)
			delete(q.watchers, w)
		}
	}
}

// watch registers a condition; the caller unwatches if it stops waiting.
func (q *queue) watch(done func(*queue) bool) *watcher {
	w := &watcher{done: done, met: make(chan struct{})}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.watchers[w] = struct{}{}
	q.tellWatchers()
	return w
}

func (q *queue) unwatch(w *watcher) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.watchers, w)
}

// wait waits until a condition has been true, or for the end of ctx or queue.
func (q *queue) wait(ctx context.Context, done func(*queue) bool) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	w := q.watch(done)
	defer q.unwatch(w)
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.met:
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrStopped
	}
	return nil
}

// waitRoom waits until an overflowed queue is half empty, or for the time
// given. It returns false once the queue is closed.
func (q *queue) waitRoom(d time.Duration) bool {
	w := q.watch(func(q *queue) bool { return q.overflow && len(q.entries) <= q.capacity/2 })
	defer q.unwatch(w)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-w.met:
	case <-timer.C:
	case <-q.stopped:
	}
	return !q.isClosed()
}

func (q *queue) isClosed() bool {
	select {
	case <-q.stopped:
		return true
	default:
		return false
	}
}
