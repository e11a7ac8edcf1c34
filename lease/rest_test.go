package lease

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/txn"
)

// TestRest: a process that cannot prepare for a lease tries again at growing intervals, and takes
// the lease after the cause has gone.
func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		var began time.Time
		var at []time.Duration
		var healed atomic.Bool
		m := f.join(Options{Wants: []Want{{Name: "x", Gained: func(context.Context) error {
			if healed.Load() {
				return nil
			}
			at = append(at, time.Since(began).Truncate(time.Second))
			return errors.New("the server is away")
		}}}})
		m.opts.Every = time.Second
		began = time.Now()
		m.Start(t.Context())
		time.Sleep(200 * time.Second)
		synctest.Wait()
		if want := []time.Duration{0, 2, 5, 10, 19, 36, 67, 98, 129, 160, 191}; !slices.EqualFunc(at, want, func(a, b time.Duration) bool { return a == b*time.Second }) {
			t.Errorf("tried after %v; want after %d seconds", at, want)
		}
		healed.Store(true)
		time.Sleep((restMost + 1) * time.Second)
		synctest.Wait()
		if !m.Held("x") {
			t.Error("nobody has the lease, although the cause has gone")
		}
		if err := m.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// oracle is one that does not answer while it is away.
type oracle struct {
	txn.Timestamps
	away atomic.Bool
}

func (o *oracle) Last(ctx context.Context) (uint64, error) {
	if o.away.Load() {
		return 0, errors.New("the oracle is away")
	}
	return o.Timestamps.Last(ctx)
}

// TestNoRestAfterOutage: a process that could not look at a lease takes it as soon as it can.
func TestNoRestAfterOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		process := f.coordinator.Join()
		o := &oracle{Timestamps: process}
		m := f.joinAs(process, o, Options{Wants: []Want{{Name: "x"}}})
		m.opts.Every = time.Second
		o.away.Store(true)
		m.Start(t.Context())
		time.Sleep(200 * time.Second)
		o.away.Store(false)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if !m.Held("x") {
			t.Error("nobody has the lease, although the oracle answers again")
		}
		if err := m.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
