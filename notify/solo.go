package notify

import "time"

// Observers with Solo run one at a time. Their work is made cheap by large batches:
// a run costs by the rows it touches, and rows that are woken together touch many in
// common. So:
//
//   - No worker is given a batch of one that is running. The end of the run wakes a
//     worker for the rest.
//   - Rows that are held come due together, a few times per Hold. Each at its own time
//     would have the first idle worker run it alone.
//
// occupied reports whether an observer must not be run just now.
func (q *queue) occupied(observer int) bool {
	return q.registry.list[observer].Solo && q.busy[observer] > 0
}

// vacated wakes a worker for each observer whose only run has ended and left others
// waiting. It is called whenever runs have ended.
func (q *queue) vacated() {
	for i := range q.ready {
		if q.registry.list[i].Solo && q.busy[i] == 0 && len(q.ready[i]) > 0 {
			q.work.Signal()
		}
	}
}

// together moves the time at which a row is due to that of its neighbours.
func (q *queue) together(observer int, until time.Time) time.Time {
	o := &q.registry.list[observer]
	step := int64(o.Hold / 5)
	if !o.Solo || step == 0 {
		return until
	}
	return until.Add(time.Duration(step - until.UnixNano()%step))
}
