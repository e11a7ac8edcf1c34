package notify

import "time"

// Patient rows (txn.Txn.NotifyPatiently) are there because of other pages, such as those
// that link to a page. Every further page may notify them once more, so what matters is how
// many pages one run handles, and not how much time. With a Debounce alone, a machine that
// is ten times as slow runs ten times as often for the same pages: of 95,000 pages that were
// loaded on a busy machine, each was exported several times, which was half of all the
// processor time.
//
// So an observer may also have its patient rows wait until its upstream has handled a number
// of pages (Observer.PatientRows), for PatientMax at most. In a large load they wait for a quarter
// of the pages that have come before: with a constant number, how often a row runs would grow
// with the load, and so it grows with its logarithm. Pages are counted where they
// enter: by the rows of those upstream observers that have no upstream themselves. As with
// Debounce, an idle upstream and a caller that waits for the queue to empty end the wait,
// and so does a notification that is not patient, within half of Debounce.

// patientShare is the part of the pages before it that a patient row waits for.
const patientShare = 4

// pages counts the rows that have entered the upstream of an observer and were handled.
func (q *queue) pages(observer int) (n int64) {
	for _, i := range q.registry.upstream[observer] {
		if len(q.registry.upstream[i]) == 0 {
			n += q.handled[i]
		}
	}
	return n
}

// patientUntil returns when to look at a debounced entry again because it is patient; the
// zero time if it need not wait for that. It assumes that pages go on to come as fast as they
// have come since the entry was notified.
func (q *queue) patientUntil(e *entry, now time.Time) time.Time {
	o := &q.registry.list[e.observer]
	waited := now.Sub(e.since)
	enough := max(o.PatientRows, e.mark/patientShare)
	missing := enough - (q.pages(e.observer) - e.mark)
	if o.PatientRows == 0 || e.urgent || missing <= 0 || waited >= o.PatientMax {
		return time.Time{}
	}
	wait := o.Debounce / 2
	if came := enough - missing; came > 0 {
		wait = min(wait, time.Duration(float64(waited)*float64(missing)/float64(came)))
	}
	return now.Add(min(max(wait, o.Debounce/20), o.PatientMax-waited))
}
