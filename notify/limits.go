package notify

import "time"

// Two limits keep ready rows from being given to a worker.
//
// Exclusive observers run one batch at a time. Large batches make their work cheap: the
// cost of a run is the number of rows that it touches, and rows that are notified
// together have many of these in common. So the end of a run wakes a worker for the
// remaining rows, and debounced rows become due together, a few times per Debounce. If
// each row became due at its own time, the first free worker would run it alone.
//
// MaxOpen bounds the open rows: rows whose last run asked for another one
// (txn.Txn.Continue). So it bounds the state of an observer that keeps some in memory
// between the runs for a row. Open rows are taken first, in batches of their own, so that
// they finish.

// mayRun reports whether a ready entry may be given to a worker now.
func (q *queue) mayRun(e *entry) bool {
	o := &q.registry.list[e.observer]
	if o.Exclusive && q.busy[e.observer] > 0 {
		return false
	}
	return o.MaxOpen == 0 || e.open || q.open[e.observer]+q.opening[e.observer] < o.MaxOpen
}

// opens counts a batch of rows that are not open, because one of them may be open after
// the run.
func (q *queue) opens(first *entry) {
	if q.registry.list[first.observer].MaxOpen > 0 && !first.open {
		first.opening = true
		q.opening[first.observer]++
	}
}

// ranOnce reverts the count of opens.
func (q *queue) ranOnce(e *entry) {
	if e.opening {
		e.opening = false
		q.opening[e.observer]--
	}
}

// setOpen records whether a row is open after a run that committed.
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

// wakeLimited wakes a worker for each observer that has ready rows and that a limit may
// have delayed. It is called whenever runs have ended.
func (q *queue) wakeLimited() {
	for i := range q.ready {
		if o := &q.registry.list[i]; (o.Exclusive || o.MaxOpen > 0) && len(q.ready[i]) > 0 && q.mayRun(q.ready[i][0]) {
			q.work.Signal()
		}
	}
}

// align moves the due time of a row of an exclusive observer to that of
// its neighbours.
func (q *queue) align(observer int, until time.Time) time.Time {
	o := &q.registry.list[observer]
	step := int64(o.Debounce / 5)
	if !o.Exclusive || step == 0 {
		return until
	}
	return until.Add(time.Duration(step - until.UnixNano()%step))
}
