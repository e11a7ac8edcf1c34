package notify

import "time"

// Two limits keep a ready row from being handed to a worker.
//
// Exclusive observers run one batch at a time. Large batches make their work
// cheap: a run costs by the rows it touches, and rows that are woken together
// touch many in common. So the end of a run wakes a worker for the rest, and
// debounced rows come due together, a few times per Debounce. If each came at its
// own time, the first free worker would run it alone.
//
// MaxOpen bounds the rows that are open: those whose last run asked for another
// one (txn.Txn.Continue). An observer that keeps state in memory between the runs
// for a row bounds that state so. Open rows come first, in batches of their own,
// so that they end.

// mayRun reports whether a ready entry may be handed to a worker now.
func (q *queue) mayRun(e *entry) bool {
	o := &q.registry.list[e.observer]
	if o.Exclusive && q.busy[e.observer] > 0 {
		return false
	}
	return o.MaxOpen == 0 || e.open || q.open[e.observer]+q.opening[e.observer] < o.MaxOpen
}

// opens counts a batch of rows that are not open: one of them may be, after the run.
func (q *queue) opens(first *entry) {
	if q.registry.list[first.observer].MaxOpen > 0 && !first.open {
		first.opening = true
		q.opening[first.observer]++
	}
}

// ranOnce takes back what opens counted.
func (q *queue) ranOnce(e *entry) {
	if e.opening {
		e.opening = false
		q.opening[e.observer]--
	}
}

// setOpen notes whether a row is open after a run that committed.
func (q *queue) setOpen(e *entry, open bool) {
	if e.open == open {
		return
	}
	e.open = open
	if open {
		q.open[e.observer]++
	} else {
		q.open[e.observer]--
	}
}

// wakeLimited wakes a worker for each observer that has ready rows and may have
// been held up by a limit. It is called whenever runs have ended.
func (q *queue) wakeLimited() {
	for i := range q.ready {
		if o := &q.registry.list[i]; (o.Exclusive || o.MaxOpen > 0) && len(q.ready[i]) > 0 && q.mayRun(q.ready[i][0]) {
			q.work.Signal()
		}
	}
}

// align moves the time at which a row of an exclusive observer is due to that of
// its neighbours.
func (q *queue) align(observer int, until time.Time) time.Time {
	o := &q.registry.list[observer]
	step := int64(o.Debounce / 5)
	if !o.Exclusive || step == 0 {
		return until
	}
	return until.Add(time.Duration(step - until.UnixNano()%step))
}
