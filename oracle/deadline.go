package oracle

import (
	"errors"
	"sync/atomic"
	"time"
)

// TTL is how long a process is considered alive without a sign of life. With a
// shorter time, a process on a busy machine is found dead sooner; a longer one delays
// work after a crash. etcd grants at least 2 s.
const TTL = 2 * time.Second

// ErrLapsed means that this process has shown no sign of life for so long that others may
// consider it dead. It may be alive again after the next sign, if no other process has acted on
// it.
var ErrLapsed = errors.New("oracle: no sign of life of this process has reached the others in time; they may consider it dead")

// Deadline is the end of a promise that another process has made, measured by the clock of
// this one. The clocks of two machines need not show the same time, but they must run at
// about the same speed: of a time to live, the holder uses two thirds, counted from when it
// sent its sign of life, and others wait for all of it, counted from when they saw it.
//
// The monotonic clock stands still while a machine sleeps, and the wall clock can be set
// back. So a deadline has passed as soon as either clock says so.
type Deadline struct {
	until atomic.Pointer[moment]
	now   func() time.Time // time.Now; tests of machines that sleep replace it
}

type moment struct{ mono, wall time.Time }

// Extend moves the deadline: a sign of life was sent at the given time, and it counts for
// ttl.
func (d *Deadline) Extend(sent time.Time, ttl time.Duration) {
	end := sent.Add(ttl * 2 / 3)
	d.until.Store(&moment{mono: end, wall: end.Round(0)})
}

// End makes the deadline pass now, until it is extended.
func (d *Deadline) End() { d.until.Store(nil) }

// Passed reports whether the deadline has passed, or was never set.
func (d *Deadline) Passed() bool {
	m := d.until.Load()
	if m == nil {
		return true
	}
	now := time.Now
	if d.now != nil {
		now = d.now
	}
	t := now()
	return t.After(m.mono) || t.Round(0).After(m.wall)
}
