package notify

import (
	"container/heap"
	"time"
)

// A run of some observers costs nearly the same for one row as for a thousand: it works
// through whatever part of a graph its rows lead to, and tells all rows downstream that
// something has moved. With a fixed Debounce such an observer would run equally often,
// however long its runs take. On a slow machine, or on a large table, it would take most of
// the processor time, and each run would handle fewer and fewer pages.
//
// So an observer may have a cooldown in proportion to its work (Observer.Cooldown). A burst
// begins when debounced rows of the observer become ready, and ends when none of its rows is
// ready or running. Then the observer cools down for Cooldown times as long as its runs took,
// but for no longer than MaxCooldown. Debounced rows whose delay ends during a burst or a
// cooldown wait for the end of the cooldown. They must not join the burst: if rows came faster
// than it handles them, it would never end. So the observer takes at most 1/(1+Cooldown) of the
// time of one worker, as long as its bursts take less than MaxCooldown/Cooldown.
//
// Time is wall time, because the queue cannot measure the processor time of a run. On a
// machine that is busy with other work, runs take longer and so do cooldowns, which is what
// such a machine needs.
//
// A cooldown delays debounced rows only. It does not delay rows in spare time (spare.go), nor rows
// that are continued or tried again. Whatever ends a debounce early ends a cooldown as well: an
// idle upstream, and a caller that waits for the queue to empty (idle.go), because such a caller
// needs all rows to run. With Observer.CooldownWhenIdle, an idle upstream does not end it: a page
// that changes every few seconds would otherwise keep such an observer at work all the time. (On a
// table that several processes share, it does, because the waiting caller may be in another
// process.)

// burst is the state of the last burst of an observer.
type burst struct {
	began     time.Time     // of the run under way
	took      time.Duration // by its runs so far
	coolUntil time.Time     // when the cooldown ends
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

// runEnds is called after rows of an observer have come back from a worker. Runs that
// overlap count once.
func (q *queue) runEnds(observer int, now time.Time) {
	o, b := &q.registry.list[observer], &q.bursts[observer]
	if o.Cooldown == 0 || q.busy[observer] > 0 {
		return
	}
	b.took += now.Sub(b.began)
	b.coolUntil = now.Add(o.cooldownAfter(b.took))
}

// cooldownUntil estimates when debounced rows of an observer may become ready. During a burst,
// it is the end of the cooldown if the burst ended now. The zero time means at once.
func (q *queue) cooldownUntil(observer int, now time.Time) time.Time {
	o, b := &q.registry.list[observer], &q.bursts[observer]
	if o.Cooldown == 0 || q.eager {
		return time.Time{}
	}
	until := b.coolUntil
	if q.busy[observer] > 0 || len(q.ready[observer]) > 0 {
		took := b.took
		if q.busy[observer] > 0 {
			took += now.Sub(b.began)
		}
		// A burst that has just begun says little, so its rows check again later.
		until = now.Add(max(o.cooldownAfter(took), o.Debounce/5))
	}
	if !until.After(now) {
		return time.Time{}
	}
	return until
}

// cooldownWhenIdle returns how much longer the cooldown of an observer lasts although its
// upstream is idle.
func (q *queue) cooldownWhenIdle(observer int, now time.Time) time.Duration {
	if !q.registry.list[observer].CooldownWhenIdle || q.waiters > 0 || q.elsewhere != nil {
		return 0
	}
	if until := q.cooldownUntil(observer, now); !until.IsZero() {
		return until.Sub(now)
	}
	return 0
}

// cooldownAfter is the length of the cooldown after a burst.
func (o *Observer) cooldownAfter(took time.Duration) time.Duration {
	if took >= time.Duration(float64(o.MaxCooldown)/o.Cooldown) {
		return o.MaxCooldown
	}
	return time.Duration(o.Cooldown * float64(took))
}

// releaseDue makes the due entries ready. It delays those of observers that cool down, and
// deferrable ones. It asks once for each observer whether it cools down, so that rows that are due
// together are in one burst.
func (q *queue) releaseDue(now time.Time) {
	for i := range q.delayed {
		q.releaseDueOf(i, now)
	}
}

func (q *queue) releaseDueOf(observer int, now time.Time) {
	list := &q.delayed[observer]
	var cooling time.Time
	asked := false
	for len(*list) > 0 && !(*list)[0].until.After(now) {
		e := (*list)[0]
		if e.debounced {
			if !asked {
				cooling, asked = q.cooldownUntil(observer, now), true
			}
			until := cooling
			if until.IsZero() {
				until = q.deferredUntil(e, now)
			}
			if !until.IsZero() {
				e.until = until
				heap.Fix(list, 0)
				continue
			}
		}
		q.makeReady(heap.Pop(list).(*entry))
	}
}
