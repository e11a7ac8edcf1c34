package notify

import (
	"math/rand/v2"
	"time"
)

// pause is a wait that grows while there is nothing to do. Its length is random, so that
// processes that met do not meet again.
type pause struct {
	least, most time.Duration
	next        time.Duration
}

func (w *pause) reset() { w.next = 0 }

func (w *pause) grow() time.Duration {
	w.next = min(max(2*w.next, w.least), w.most)
	return jitter(w.next)
}

// jitter draws from the upper half of a duration.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }

// scanRest is how long to rest after a scan of the whole table: twice as long as it took, so that
// scans take a third of the time. The shorter of the last two scans counts, because a scan may have
// waited for a store that was silent for long.
type scanRest struct{ last time.Duration }

func (r *scanRest) after(took time.Duration) time.Duration {
	rest := 2 * min(took, r.last)
	r.last = took
	return rest
}
