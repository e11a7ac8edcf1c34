package notify

import (
	"container/heap"
	"time"
)

// The observers before an observer are idle if none of them has anything to do,
// and calm if they have been idle for its Linger. Only calm frees what an observer
// with Hold gathers: in a load that comes page by page they are idle for a moment
// after each of them, and a row that is notified by every other page would be run
// as often. Somebody who waits for the queue to empty (Admit, Quiesce) makes the
// idle calm at once: nothing will come, or not before we are done.

// calmness is the part of a queue that knows of it.
type calmness struct {
	idleSince []time.Time // of each observer: since when those before it are idle; zero if not noted
	hurried   int         // how many wait for the queue to empty
	gathering []int       // entries of each observer held for collapsing
}

// busyUpstream is called for an entry that is new, or gathers no longer.
func (q *queue) busyUpstream(observer int) {
	for i := observer + 1; i < len(q.idleSince); i++ {
		q.idleSince[i] = time.Time{}
	}
}

// upstreamCalm reports whether the observers before i are calm, and notes since
// when they are idle.
func (q *queue) upstreamCalm(i int, now time.Time) bool { return q.calmIn(i, now) == 0 }

// calmIn is how long it takes until the observers before i are calm if nothing
// comes: 0 if they are, negative if they are not even idle.
func (q *queue) calmIn(i int, now time.Time) time.Duration {
	for j := range i {
		if q.waiting[j] > q.excused(j) || q.busy[j] > 0 {
			return -1
		}
	}
	if q.idleSince[i].IsZero() {
		q.idleSince[i] = now
	}
	if q.hurried > 0 {
		return 0
	}
	return max(0, q.registry.list[i].Linger-now.Sub(q.idleSince[i]))
}

// backlog is what has to be done now: all entries but those that gather, unless
// these fill half of the queue.
func (q *queue) backlog() int {
	return len(q.entries) - min(q.gathers(), q.capacity/2)
}

// excused are the rows of an observer that do not keep those after it from being
// idle: those that gather by themselves. Else a row would wait for one hold after the
// other. When somebody waits for the end they do count, so that each observer is done
// before the next one begins.
func (q *queue) excused(observer int) int {
	if q.hurried > 0 {
		return 0
	}
	return q.gathering[observer]
}

// gathers is how many entries do, of all observers.
func (q *queue) gathers() (n int) {
	for _, g := range q.gathering {
		n += g
	}
	return n
}

// hurry makes calm of idle until the returned function is called.
func (q *queue) hurry() (end func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hurried++
	q.releaseHeld(time.Now())
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.hurried--
	}
}

// releaseHeld frees the entries that were only held for collapsing, of observers
// whose upstream is calm. Upstream becomes idle by the end of a run and by nothing
// else: it is called there, and by keepTime. It returns how long it is until some
// are to be freed if nothing comes, 0 if that is not known.
func (q *queue) releaseHeld(now time.Time) (wait time.Duration) {
	if q.gathers() == 0 {
		return 0
	}
	calm, some := make([]bool, len(q.ready)), false
	for i := range q.ready {
		if q.registry.list[i].Hold == 0 {
			continue
		}
		in := q.calmIn(i, now)
		if calm[i] = in == 0; in > 0 && (wait == 0 || in < wait) {
			wait = in
		}
		some = some || calm[i]
	}
	if !some {
		return wait
	}
	kept := q.held[:0]
	for _, e := range q.held {
		if e.hold && calm[e.observer] {
			q.makeReady(e)
			continue
		}
		kept = append(kept, e)
	}
	if len(kept) == len(q.held) {
		return wait
	}
	clear(q.held[len(kept):])
	q.held = kept
	for i, e := range q.held {
		e.pos = i
	}
	heap.Init(&q.held) // the timer may ring for nothing: keepTime just looks
	return wait
}
