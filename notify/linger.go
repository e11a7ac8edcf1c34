package notify

import "time"

// A run costs a transaction, whatever its number of rows. A load that is about as fast as the
// workers leaves some of them free, so each page would be run alone, the moment it is loaded.
// So the ready rows of an observer may linger: while a loader is at work, they wait for others
// until they fill a batch, or until the first of them has waited for Linger. A crawl as fast as
// the machine allows took twice as many runs without this rule.
//
// Nothing lingers once no loader is at work, or while a caller waits for the queue to empty:
// nothing is about to come, or the caller has to wait as well. So a page that is loaded alone is
// not delayed. Rows that were in a failed batch do not linger for more rows than they may run
// with.

// lingers reports whether the ready rows of an observer wait for others, and makes sure that
// runTimer ends their wait.
func (q *queue) lingers(observer int, now time.Time) bool {
	wait := q.lingersFor(observer, now)
	if wait > 0 && (q.lingerTo.IsZero() || now.Add(wait).Before(q.lingerTo)) {
		q.lingerTo = now.Add(wait)
		q.wakeTimer()
	}
	return wait > 0
}

// lingersFor returns for how long the ready rows of an observer wait for others; 0 if they may
// run now, or if there are none.
func (q *queue) lingersFor(observer int, now time.Time) time.Duration {
	o, rows := &q.registry.list[observer], q.ready[observer]
	if o.Linger == 0 || q.loaders == 0 || q.waiters > 0 || q.eager || len(rows) == 0 || len(rows) >= rows[0].within(o.Batch) {
		return 0
	}
	// rows[0] has the oldest notification, but others may have been ready before it: a run that
	// failed gives it back, or a scan finds it late.
	first := rows[0].readySince
	for _, e := range rows[1:] {
		if e.readySince.Before(first) {
			first = e.readySince
		}
	}
	return max(0, o.Linger-now.Sub(first))
}

// endLinger wakes workers for rows that no longer linger. It returns the time until runTimer has
// to call it again, or 0 if nothing lingers.
func (q *queue) endLinger(now time.Time) (next time.Duration) {
	for i := range q.ready {
		if q.registry.list[i].Linger == 0 || len(q.ready[i]) == 0 {
			continue
		}
		in := q.lingersFor(i, now)
		if in == 0 {
			q.work.Signal()
		} else if next == 0 || in < next {
			next = in
		}
	}
	q.lingerTo = time.Time{}
	if next > 0 {
		q.lingerTo = now.Add(next)
	}
	return next
}
