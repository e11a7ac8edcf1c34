package notify

import (
	"hash/maphash"
	"time"
)

// recentRuns records when the rows of an observer were last run, for about as long as that can
// delay them. It has two generations, and drops the older one as a whole.
//
// In one load, 100,000 rows ran in that time. So the records hold hashes of rows and no
// pointers: the garbage collector does not look at them. Of two rows with the same hash of 64
// bits, one may be delayed as if it had run when the other did.
type recentRuns struct {
	began      time.Time // times of records count from here
	young, old map[uint64]runRecord
	since      time.Time // when young was begun
}

type runRecord struct {
	last  time.Duration
	since time.Duration // of the first run that runs counts
	runs  int32
}

// recent counts the recent runs of a row.
type recent struct {
	last  time.Time
	since time.Time // of the first run that runs counts
	runs  int       // within one Debounce
}

var rowSeed = maphash.MakeSeed()

func (r *recentRuns) of(row string) (recent, bool) { return r.at(maphash.String(rowSeed, row)) }

func (r *recentRuns) at(hash uint64) (recent, bool) {
	run, ok := r.young[hash]
	if !ok {
		run, ok = r.old[hash]
	}
	return recent{r.began.Add(run.last), r.began.Add(run.since), int(run.runs)}, ok
}

// note records a run of a row. Each generation has at most the given number of rows.
func (r *recentRuns) note(row string, now time.Time, debounce time.Duration, capacity int) {
	if r.began.IsZero() {
		r.began = now
	}
	if r.young == nil || now.Sub(r.since) > debounce || len(r.young) >= capacity {
		r.old, r.young, r.since = r.young, make(map[uint64]runRecord), now
	}
	hash := maphash.String(rowSeed, row)
	run, known := r.at(hash)
	if !known || now.Sub(run.since) >= debounce {
		run.since, run.runs = now, 0
	}
	r.young[hash] = runRecord{now.Sub(r.began), run.since.Sub(r.began), int32(run.runs + 1)}
}

// noteRun records a run of an observer with a Debounce.
func (q *queue) noteRun(e *entry, now time.Time) {
	if debounce := q.registry.list[e.observer].Debounce; debounce > 0 && !q.eager {
		q.lastRuns[e.observer].note(e.row, now, debounce, q.capacity)
	}
}
