package notify

import (
	"container/heap"
	"time"
)

// Entries are held back for two reasons. After a run that did not commit they
// wait out a delay; nothing shortens it. And rows of an observer with Hold wait
// for more notifications to collapse with, until their time has come or the
// observers before theirs are calm (calm.go), when waiting would gain nothing.
//
// One goroutine, keepTime, frees what is due. Rejected: a time.AfterFunc for
// each delay, whose goroutines nobody waits for.

// enqueue makes an entry ready, or holds it for collapsing.
func (q *queue) enqueue(e *entry, now time.Time) {
	hold := q.registry.list[e.observer].Hold
	if hold == 0 || q.eager || q.upstreamCalm(e.observer, now) {
		q.makeReady(e)
		return
	}
	until := now.Add(hold / 5)
	if last, ok := q.lastRuns[e.observer].last(e.row); ok {
		until = last.Add(hold)
	}
	if until = q.together(e.observer, until); !until.After(now) {
		q.makeReady(e)
		return
	}
	e.hold = true
	q.gathering[e.observer]++
	q.holdUntil(e, until)
}

func (q *queue) holdUntil(e *entry, until time.Time) {
	e.place, e.until = held, until
	heap.Push(&q.held, e)
	if q.held[0] == e {
		q.ring()
	}
}

// ring makes keepTime look again.
func (q *queue) ring() {
	select {
	case q.alarm <- struct{}{}:
	default: // it will already
	}
}

// keepTime frees held entries when they are due, until the queue is closed.
func (q *queue) keepTime() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-q.stopped:
			return
		case <-timer.C:
		case <-q.alarm:
		}
		if d := q.release(time.Now()); d > 0 {
			timer.Reset(d)
		}
	}
}

// release moves the entries that are due to the ready heaps. It returns how long
// it is until the next one is, 0 if there is none.
func (q *queue) release(now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.held) > 0 && !q.held[0].until.After(now) {
		q.makeReady(heap.Pop(&q.held).(*entry))
	}
	calm := q.releaseHeld(now)
	if len(q.held) == 0 {
		return 0
	}
	next := q.held[0].until.Sub(now)
	if calm > 0 {
		next = min(next, calm)
	}
	return next
}

// recentRuns remembers when rows were run, for about as long as that can hold
// them back: in two generations, of which the older one is forgotten as a whole.
type recentRuns struct {
	young, old map[string]time.Time
	since      time.Time // when young was begun
}

func (r *recentRuns) last(row string) (time.Time, bool) {
	if t, ok := r.young[row]; ok {
		return t, true
	}
	t, ok := r.old[row]
	return t, ok
}

// noteRun remembers a run of an observer with Hold.
func (q *queue) noteRun(e *entry, now time.Time) {
	hold := q.registry.list[e.observer].Hold
	if hold == 0 || q.eager {
		return
	}
	r := &q.lastRuns[e.observer]
	if r.young == nil || now.Sub(r.since) > hold || len(r.young) >= q.capacity {
		r.old, r.young, r.since = r.young, make(map[string]time.Time), now
	}
	r.young[e.row] = now
}
