package notify

import (
	"container/heap"
	"time"
)

// A run of some observers costs nearly the same for one row as for a thousand: it works
// through whatever part of a graph its rows lead to, and tells all rows downstream that
// something has moved. With a fixed Debounce such an observer runs equally often, however
// long it takes. On a slow machine, or on a large table, it would take most of the processor
// and leave fewer and fewer pages to each of its runs.
//
// So an observer may rest in proportion to what it has done (Observer.Rest). A burst begins
// when debounced rows of the observer become ready, and ends when none of its rows is ready
// or running. Then the observer rests for Rest times as long as its runs took, but for no
// longer than MaxRest. Debounced rows whose delay ends during a burst or a rest wait for the
// end of the rest. They must not join the burst: if rows came faster than it handles them,
// it would never end. So the observer takes at most 1/(1+Rest) of the time of one worker, as
// long as its bursts take less than MaxRest/Rest.
//
// Time is wall time, because the queue cannot measure the processor time of a run. On a
// machine that is busy with other work, runs take longer and rests are longer too, which is
// what such a machine needs.
//
// Rests delay debounced rows only. Whatever ends a debounce early ends a rest as well: an
// idle upstream, and a caller that waits for the queue to empty (idle.go), because such a
// caller needs all rows to run. With Observer.RestIdle, an idle upstream does not: a page
// that changes every few seconds would otherwise have such an observer work all the time. (On
// a table that several processes share it does: who waits there may be in another process.) Rows in spare time (spare.go) and rows that are continued
// or tried again do not rest either.

// burst is what the queue knows of the last burst of an observer.
type burst struct {
	began  time.Time     // of the run under way
	took   time.Duration // by its runs so far
	rested time.Time     // when the rest ends
}

// burstBegins is called before a row becomes ready that begins a burst, unless one is under
// way. Rows that are continued or tried again belong to the burst of their last run.
func (q *queue) burstBegins(observer int) {
	if q.busy[observer] == 0 && len(q.ready[observer]) == 0 {
		q.bursts[observer].took = 0
	}
}

// runBegins is called before a row is given to a worker.
func (q *queue) runBegins(observer int) {
	if q.busy[observer] == 0 {
		q.bursts[observer].began = time.Now()
	}
}

// runEnds is called after rows of an observer came back from a worker. Runs that overlap
// count once.
func (q *queue) runEnds(observer int, now time.Time) {
	o, b := &q.registry.list[observer], &q.bursts[observer]
	if o.Rest == 0 || q.busy[observer] > 0 {
		return
	}
	b.took += now.Sub(b.began)
	b.rested = now.Add(o.restAfter(b.took))
}

// restsUntil returns when debounced rows of an observer may become ready, as far as that is
// known: during a burst, it is the end of the rest if the burst ended now. The zero time
// means at once.
func (q *queue) restsUntil(observer int, now time.Time) time.Time {
	o, b := &q.registry.list[observer], &q.bursts[observer]
	if o.Rest == 0 || q.eager {
		return time.Time{}
	}
	until := b.rested
	if q.busy[observer] > 0 || len(q.ready[observer]) > 0 {
		took := b.took
		if q.busy[observer] > 0 {
			took += now.Sub(b.began)
		}
		// A burst that has just begun says little: its rows look again after a while.
		until = now.Add(max(o.restAfter(took), o.Debounce/5))
	}
	if !until.After(now) {
		return time.Time{}
	}
	return until
}

// restsIdle returns how long an observer goes on resting although its upstream is idle.
func (q *queue) restsIdle(observer int, now time.Time) time.Duration {
	if !q.registry.list[observer].RestIdle || q.waiters > 0 || q.elsewhere != nil {
		return 0
	}
	if until := q.restsUntil(observer, now); !until.IsZero() {
		return until.Sub(now)
	}
	return 0
}

// restAfter is how long the observer rests after a burst.
func (o *Observer) restAfter(took time.Duration) time.Duration {
	if took >= time.Duration(float64(o.MaxRest)/o.Rest) {
		return o.MaxRest
	}
	return time.Duration(o.Rest * float64(took))
}

// releaseDue makes the entries ready that are due. Those of observers that rest are due
// later, and so are patient ones. Whether an observer rests is asked once, so that rows that are due together are in
// one burst.
func (q *queue) releaseDue(now time.Time) {
	rests := make(map[int]time.Time)
	for len(q.delayed) > 0 && !q.delayed[0].until.After(now) {
		e := q.delayed[0]
		if e.debounced {
			until, asked := rests[e.observer]
			if !asked {
				until = q.restsUntil(e.observer, now)
				rests[e.observer] = until
			}
			if until.IsZero() {
				until = q.patientUntil(e, now)
			}
			if !until.IsZero() {
				e.until = until
				heap.Fix(&q.delayed, 0)
				continue
			}
		}
		q.makeReady(heap.Pop(&q.delayed).(*entry))
	}
}
