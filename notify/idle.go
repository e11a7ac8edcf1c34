package notify

import (
	"container/heap"
	"time"
)

// The upstream of an observer is inactive when none of its observers has work and no
// loader is at work (Pipeline.Loading), and idle when it has been inactive for IdleAfter.
// Only idleness releases the debounced rows of an observer. When pages are loaded one by
// one, upstream is inactive for a moment after each page, and a row that every
// page notifies would otherwise be run for each. When a caller waits for the queue to
// empty (Quiesce, or Admit with a full backlog), inactive counts as idle: no more work
// will arrive, or not before the present rows are done.
//
// Idleness may end any moment. So it releases a batch at first, and one more for each further
// IdleAfter, up to one for each worker; the next ones when these have run. Rejected: everything
// at once. On a busy machine, a load often has a pause of 50 ms, and one such pause released
// thousands of rows that the rest of the load notified again: of 5,000 pages, a crawl
// exported 2,900 twice for one pause.

// idleness is the part of a queue that tracks idle observers.
type idleness struct {
	inactiveSince []time.Time // of each observer's upstream; zero if not noted
	waiters       int         // how many callers wait for the queue to empty
	debounced     []int       // debounced entries of each observer
	elsewhere     []bool      // observers that may have work in other processes; nil in the only one
}

// upstreamBusy is called for an entry that is new, or no longer debounced.
func (q *queue) upstreamBusy(observer int) {
	for _, i := range q.registry.downstream[observer] {
		q.inactiveSince[i] = time.Time{}
	}
}

// upstreamIdle reports whether the upstream of observer i is idle, and records
// since when it has been inactive.
func (q *queue) upstreamIdle(i int, now time.Time) bool { return q.idleIn(i, now) == 0 }

// idleIn returns the time until the upstream of observer i is idle if
// no work arrives: 0 if it is idle, negative if it is active. An observer that cools
// down although its upstream is idle (CooldownWhenIdle) counts its cooldown.
func (q *queue) idleIn(i int, now time.Time) time.Duration {
	for _, j := range q.registry.upstream[i] {
		if q.waiting[j] > q.excused(j) || q.busy[j] > 0 || q.elsewhere != nil && q.elsewhere[j] {
			return -1
		}
	}
	if q.waiters > 0 {
		return 0
	}
	if q.loaders > 0 {
		q.inactiveSince[i] = time.Time{}
		return -1
	}
	if q.inactiveSince[i].IsZero() {
		q.inactiveSince[i] = now
	}
	return max(0, q.registry.list[i].IdleAfter-now.Sub(q.inactiveSince[i]), q.cooldownWhenIdle(i, now))
}

// backlog counts the entries that have to be run now: all except the debounced ones,
// unless these fill half of the queue.
func (q *queue) backlog() int {
	return len(q.entries) - min(q.allDebounced(), q.capacity/2)
}

// excused counts the rows that do not make their observer active: the
// debounced ones. Otherwise a row would wait for one debounce after the other.
// When a caller waits for the queue to empty they do count, so that upstream
// finishes before downstream begins.
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

// addWaiter makes inactive count as idle until the returned function is called.
func (q *queue) addWaiter() (end func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiters++
	q.endLinger(time.Now())
	q.releaseDebounced(time.Now())
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.waiters--; q.waiters == 0 {
			q.wakeSpare()
		}
	}
}

// releaseDebounced makes ready the debounced entries whose upstream is idle. Only the
// end of a run makes upstream inactive, so the queue calls it there, and in runTimer.
// It returns the time until it would release entries if no work arrives, or 0 if that
// is unknown.
func (q *queue) releaseDebounced(now time.Time) (wait time.Duration) {
	if q.allDebounced() == 0 {
		return 0
	}
	rooms := make([]int, len(q.delayed)) // of idle observers
	for i := range q.delayed {
		if q.registry.list[i].Debounce == 0 {
			continue
		}
		in := q.idleIn(i, now) // it also notes since when upstream is inactive
		switch {
		case q.debounced[i] == 0:
		case in == 0:
			rooms[i] = q.idleRoom(i, now)
		case in > 0 && (wait == 0 || in < wait):
			wait = in
		}
	}
	for i, room := range rooms { // not before: what becomes ready makes upstream active
		q.releaseDebouncedOf(i, room)
	}
	return wait
}

// idleRoom is how many debounced entries of an observer become ready because its upstream is
// idle.
func (q *queue) idleRoom(observer int, now time.Time) int {
	if q.waiters > 0 {
		return q.debounced[observer]
	}
	o, batches := &q.registry.list[observer], max(q.wanted, 1)
	if o.Exclusive {
		batches = 1
	} else if o.IdleAfter > 0 {
		batches = min(batches, int(now.Sub(q.inactiveSince[observer])/o.IdleAfter))
	}
	return batches*o.Batch - q.busy[observer] - len(q.ready[observer])
}

// releaseDebouncedOf makes up to n debounced entries of an observer ready, first those that are
// due first. Those that back off stay.
func (q *queue) releaseDebouncedOf(observer, n int) {
	list := &q.delayed[observer]
	var backOff []*entry
	for ; n > 0 && q.debounced[observer] > 0; n-- {
		e := heap.Pop(list).(*entry)
		for !e.debounced {
			backOff = append(backOff, e)
			e = heap.Pop(list).(*entry)
		}
		q.makeReady(e)
	}
	for _, e := range backOff {
		heap.Push(list, e)
	}
}
