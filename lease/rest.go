package lease

import "errors"

// rest is how many looks a lease is left alone after a failure to prepare for it (Want.Gained). The
// process would otherwise take it and give it back every second, for as long as, say, the server of
// the index is down.
type rest struct{ length, left int }

// restMost bounds a rest, and so how long a lease may stay free after the cause has gone.
const restMost = 30

// unprepared is an error of Want.Gained.
type unprepared struct{ error }

func (e unprepared) Unwrap() error { return e.error }

// after begins a rest after such a failure, each twice as long as the one before. Any other failure
// costs no process a commit, and the next look may be the first one that can see a free lease.
func (r *rest) after(err error) {
	if _, failed := errors.AsType[unprepared](err); !failed {
		*r = rest{}
		return
	}
	r.length = min(max(1, 2*r.length), restMost)
	r.left = r.length
}
