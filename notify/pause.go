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
