package notify

import (
	"cmp"
	"container/heap"
	"time"
)

// A queue entry is delayed for one of two reasons. After a run that did not commit it
// backs off; nothing shortens that delay. And rows of an observer with a Debounce wait
// for more notifications, which one run then handles together, until the delay ends or
// the observers upstream are idle (idle.go), when waiting would gain nothing. Rows of an observer
// with a Cooldown wait longer after long runs (cooldown.go), and deferrable rows may wait for a
// number of pages (deferrable.go).
//
// One goroutine, runTimer, releases the entries that are due. Rejected: a time.AfterFunc for
// each delay, because no owner would wait for its goroutine.

// enqueue makes an entry ready, or debounces it.
func (q *queue) enqueue(e *entry, now time.Time) {
	o := &q.registry.list[e.observer]
	debounce := o.Debounce
	if debounce == 0 || q.eager || q.upstreamIdle(e.observer, now) {
		q.burstBegins(e.observer)
		q.makeReady(e)
		return
	}
	e.mark = q.pages(e.observer)
	until := now.Add(cmp.Or(o.FirstDebounce, debounce/5))
	if run, ok := q.lastRuns[e.observer].of(e.row); ok {
		until = run.last.Add(debounce)
	}
	if deferred := q.deferredUntil(e, now); deferred.After(until) {
		until = deferred
	}
	if until = q.align(e.observer, until); !until.After(now) {
		if until = q.cooldownUntil(e.observer, now); until.IsZero() {
			q.burstBegins(e.observer)
			q.makeReady(e)
			return
		}
	}
	e.debounced = true
	q.debounced[e.observer]++
	q.delayUntil(e, until)
	q.forSpareTime(e)
}

func (q *queue) delayUntil(e *entry, until time.Time) {
	e.place, e.until = delayed, until
	heap.Push(&q.delayed[e.observer], e)
	// An idle upstream may release the first debounced entry before those that back off.
	if q.delayed[e.observer][0] == e || e.debounced && q.debounced[e.observer] == 1 {
		q.wakeTimer()
	}
}

// openWaiting opens an entry that is not running. If it was only debounced, it becomes
// ready.
func (q *queue) openWaiting(e *entry) {
	q.setOpen(e, true)
	switch {
	case e.place == ready:
		heap.Fix(&q.ready[e.observer], e.pos)
		q.work.Signal() // MaxOpen may have kept it from running
	case e.debounced:
		heap.Remove(&q.delayed[e.observer], e.pos)
		q.makeReady(e)
	}
}

// wakeTimer makes runTimer check the heaps again.
func (q *queue) wakeTimer() {
	select {
	case q.timerWake <- struct{}{}:
	default: // already woken
	}
}

// runTimer releases delayed entries when they are due, until the queue is closed.
func (q *queue) runTimer() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-q.stopped:
			return
		case <-timer.C:
		case <-q.timerWake:
		}
		if d := q.release(time.Now()); d > 0 {
			timer.Reset(d)
		}
	}
}

// release makes the due entries ready. It returns the time until the next one is
// due, or 0 if there is none.
func (q *queue) release(now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.releaseDue(now)
	next := q.releaseDebounced(now)
	if in := q.endLinger(now); next <= 0 || in > 0 && in < next {
		next = in
	}
	for i := range q.delayed {
		if len(q.delayed[i]) == 0 {
			continue
		}
		if due := q.delayed[i][0].until.Sub(now); next <= 0 || due < next {
			next = due
		}
	}
	return next
}
