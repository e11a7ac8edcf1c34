package notify

import (
	"sync/atomic"
	"time"
)

// meter holds the counters of one observer since the pipeline was made.
type meter struct {
	runs, rows, conflicts, failures, dead atomic.Int64
	retries                               atomic.Int64 // rows given back for another run
	took                                  Histogram    // committed runs
	waited                                Histogram    // between notification and run, of the first row of each batch
}

func (m *meter) ran(rows int, took, waited time.Duration) {
	m.runs.Add(1)
	m.rows.Add(int64(rows))
	m.took.Observe(took)
	m.waited.Observe(waited)
}

// Stats describes the past and pending work of one observer.
type Stats struct {
	Observer                              string
	Runs, Rows, Conflicts, Failures, Dead int64
	Retries                               int64         // rows that were run again, or will be, after a conflict or a failure
	Busy                                  time.Duration // in committed runs, summed over workers
	Backlog                               int           // rows waiting or running
	Running                               int           // of them
	OldestWait                            time.Duration // of the rows waiting
	Took                                  Distribution  // of committed runs, from beginning to commit
	Waited                                Distribution  // of the first row of each, from learning of the notification to the run
}

// Stats lists the observers in the order of registration.
func (p *Pipeline) Stats() []Stats {
	list := make([]Stats, len(p.meters))
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	oldest := p.queue.oldestWaits(time.Now())
	for i := range p.meters {
		m := &p.meters[i]
		s := Stats{
			Observer: p.registry.list[i].Name,
			Runs:     m.runs.Load(), Rows: m.rows.Load(), Conflicts: m.conflicts.Load(), Failures: m.failures.Load(), Dead: m.dead.Load(),
			Retries: m.retries.Load(),
			Backlog: p.queue.waiting[i] + p.queue.busy[i], Running: p.queue.busy[i], OldestWait: oldest[i],
			Took: m.took.Distribution(), Waited: m.waited.Distribution(),
		}
		s.Busy = s.Took.Sum
		list[i] = s
	}
	return list
}

// Backlog is the number of rows waiting or running, over all observers. It does not count
// rows that, after an overflow, are only in the table.
func (p *Pipeline) Backlog() int {
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	return len(p.queue.entries)
}

// oldestWaits returns for each observer how long its oldest row has waited.
// The first ready entry is the oldest unless it is open; delayed entries are searched.
func (q *queue) oldestWaits(now time.Time) []time.Duration {
	waits := make([]time.Duration, len(q.ready))
	longer := func(e *entry) { waits[e.observer] = max(waits[e.observer], now.Sub(e.since)) }
	for _, h := range q.ready {
		if len(h) > 0 {
			longer(h[0])
		}
	}
	for _, h := range q.delayed {
		for _, e := range h {
			longer(e)
		}
	}
	return waits
}
