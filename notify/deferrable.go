package notify

import "time"

// Deferrable rows (txn.Txn.NotifyDeferrable) were notified because of other pages, such as
// those that link to a page. Every further page may notify them again, so their cost depends
// on how many pages one run covers, and not on how much time. With a Debounce alone, a
// machine that is ten times as slow would run them ten times as often for the same pages: on
// a busy machine, each of 95,000 loaded pages was exported several times, which took half of
// all the processor time.
//
// So an observer may also make its deferrable rows wait until its upstream has handled a
// number of pages (Observer.DeferRows), for MaxDefer at most. In a large load they wait for a
// quarter of the pages before them. So the number of runs of a row grows with the logarithm of
// the load; with a constant, it would grow with the load. Pages are counted where they enter:
// by the rows of those upstream observers that have no upstream themselves. As with Debounce,
// an idle upstream and a caller that waits for the queue to empty end the wait, and so does an
// urgent notification, within half of Debounce.

// A deferrable row waits for one deferShare-th of the pages before it.
const deferShare = 4

// pages counts the rows that have entered the upstream of an observer and were handled.
func (q *queue) pages(observer int) (n int64) {
	for _, i := range q.registry.upstream[observer] {
		if len(q.registry.upstream[i]) == 0 {
			n += q.handled[i]
		}
	}
	return n
}

// deferredUntil returns when to check a deferrable entry again; the zero time if it need not
// wait for pages. It assumes that pages keep coming as fast as they have come since the entry
// was notified.
func (q *queue) deferredUntil(e *entry, now time.Time) time.Time {
	o := &q.registry.list[e.observer]
	waited := now.Sub(e.since)
	enough := max(o.DeferRows, e.mark/deferShare)
	missing := enough - (q.pages(e.observer) - e.mark)
	if o.DeferRows == 0 || e.urgent || missing <= 0 || waited >= o.MaxDefer {
		return time.Time{}
	}
	wait := o.Debounce / 2
	if came := enough - missing; came > 0 {
		wait = min(wait, time.Duration(float64(waited)*float64(missing)/float64(came)))
	}
	return now.Add(min(max(wait, o.Debounce/20), o.MaxDefer-waited))
}
