package notify

import (
	"errors"
	"time"
)

// Attempt is one transaction of an observer, however it ended: what a trace of a row
// is made of. Events.Tried hears of each.
type Attempt struct {
	Observer string
	// Rows it was run on, or, if it did not get so far, was to be.
	Rows []string
	// Start is its start timestamp, 0 if it could not begin; Commit its commit
	// timestamp, 0 if it did not commit, or if nobody knows.
	Start, Commit uint64
	Began         time.Time
	Took          time.Duration // from Began to the end of the commit
	Waited        time.Duration // of the first row, from hearing of its notification to Began
	Err           error         // why it did not commit
}

// tried is what attempt found out on its way.
type tried struct {
	rows          []string // the observer was run on; the others had been answered before
	start, commit uint64
}

// tell reports an attempt.
func (p *Pipeline) tell(o *Observer, batch []*entry, began time.Time, took time.Duration, t tried, err error) {
	if p.opts.Events.Tried == nil || err == nil && len(t.rows) == 0 || errors.Is(err, errEarly) {
		return
	}
	if len(t.rows) == 0 {
		t.rows = rowsOf(batch)
	}
	p.opts.Events.Tried(Attempt{
		Observer: o.Name, Rows: t.rows, Start: t.start, Commit: t.commit,
		Began: began, Took: took, Waited: began.Sub(batch[0].since), Err: err,
	})
}
