package notify

import (
	"container/heap"
	"time"
)

// The upstream of an observer is inactive when none of its observers has
// anything to do, and idle when it has been inactive for IdleAfter. Only idleness
// releases the rows that an observer has debounced: in a load that comes page by
// page, upstream is inactive for a moment after each page, and a row that every
// other page notifies would be run as often. A caller that waits for the queue to
// empty (Admit, Quiesce) makes inactive mean idle: nothing will come, or not
// before the rows here are done.

// idleness is the part of a queue that tracks it.
type idleness struct {
	inactiveSince []time.Time // of each observer's upstream; zero if not noted
	waiters       int         // how many callers wait for the queue to empty
	debounced     []int       // debounced entries of each observer
}

// upstreamBusy is called for an entry that is new, or no longer debounced.
func (q *queue) upstreamBusy(observer int) {
	for _, i := range q.registry.downstream[observer] {
		q.inactiveSince[i] = time.Time{}
	}
}

// upstreamIdle reports whether the upstream of observer i is idle, and notes
// since when it has been inactive.
func (q *queue) upstreamIdle(i int, now time.Time) bool { return q.idleIn(i, now) == 0 }

// idleIn returns how long it takes until the upstream of observer i is idle if
// nothing comes: 0 if it is, negative if it is active.
func (q *queue) idleIn(i int, now time.Time) time.Duration {
	for _, j := range q.registry.upstream[i] {
		if q.waiting[j] > q.excused(j) || q.busy[j] > 0 {
			return -1
		}
	}
	if q.inactiveSince[i].IsZero() {
		q.inactiveSince[i] = now
	}
	if q.waiters > 0 {
		return 0
	}
	return max(0, q.registry.list[i].IdleAfter-now.Sub(q.inactiveSince[i]))
}

// backlog counts the entries that have to be run now: all but the debounced ones,
// unless these fill half of the queue.
func (q *queue) backlog() int {
	return len(q.entries) - min(q.allDebounced(), q.capacity/2)
}

// excused counts the rows of an observer that do not make it active: its
// debounced ones. Otherwise a row would wait for one debounce after the other.
// When a caller waits for the queue to empty they do count, so that upstream is
// done before downstream begins.
func (q *queue) excused(observer int) int {
	if q.waiters > 0 {
		return 0
	}
	return q.debounced[observer]
}

// allDebounced counts the debounced entries of all observers.
func (q *queue) allDebounced() (n int) {
	for _, d := range q.debounced {
		n += d
	}
	return n
}

// addWaiter makes inactive mean idle until the returned function is called.
func (q *queue) addWaiter() (end func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiters++
	q.releaseDebounced(time.Now())
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.waiters--
	}
}

// releaseDebounced makes the debounced entries ready whose upstream is idle.
// Upstream becomes inactive by the end of a run and by nothing else: the queue
// calls it there, and in keepTime. It returns how long it is until some are to be
// released if nothing comes, or 0 if that is not known.
func (q *queue) releaseDebounced(now time.Time) (wait time.Duration) {
	if q.allDebounced() == 0 {
		return 0
	}
	idle, some := make([]bool, len(q.ready)), false
	for i := range q.ready {
		if q.registry.list[i].Debounce == 0 {
			continue
		}
		in := q.idleIn(i, now)
		if idle[i] = in == 0; in > 0 && (wait == 0 || in < wait) {
			wait = in
		}
		some = some || idle[i]
	}
	if !some {
		return wait
	}
	kept := q.delayed[:0]
	for _, e := range q.delayed {
		if e.debounced && idle[e.observer] {
			q.makeReady(e)
			continue
		}
		kept = append(kept, e)
	}
	if len(kept) == len(q.delayed) {
		return wait
	}
	clear(q.delayed[len(kept):])
	q.delayed = kept
	for i, e := range q.delayed {
		e.pos = i
	}
	heap.Init(&q.delayed) // the timer may now fire for nothing: keepTime just looks
	return wait
}
