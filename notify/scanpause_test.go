package notify

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/store"
)

// countedScans counts the scans of one group, each of which takes a while, and may fail. Beyond the
// bound they take an hour, so that a test of a loop without a pause ends.
type countedScans struct {
	store.Table
	group string
	takes time.Duration
	// silent: a scan takes half a minute, and succeeds.
	silent, down atomic.Bool
	n            atomic.Int64
}

const scansBound = 10_000

func (c *countedScans) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	if r.Group == c.group {
		takes := c.takes
		if c.silent.Load() {
			takes = 30 * time.Second
		}
		time.Sleep(takes)
		if c.n.Add(1) > scansBound {
			time.Sleep(time.Hour)
		}
		if c.down.Load() {
			return nil, store.ErrUnavailable
		}
	}
	return c.Table.Scan(ctx, r, fn)
}

// TestLeasedScansPause: rows that wait in the queue are no reason to scan the table for them without
// a pause.
func TestLeasedScansPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		scans := &countedScans{Table: f.table, group: "~notify-leased"}
		f.table = scans
		worker := f.join(1)
		f.leader.Store(worker.process)
		end := worker.p.Loading()
		worker.load(0, 3) // sum is debounced for minutes while a loader is at work
		time.Sleep(time.Minute)
		if n := worker.notifications(); n != 0 {
			t.Errorf("%d rows wait for other observers than sum", n)
		}
		// The pauses have their full length nearly all the time, and are drawn from its upper half.
		if n, most := scans.n.Load(), int64(2*time.Minute/leasedPauseMost)+50; n < 250 || n > most {
			t.Errorf("%d scans in a minute, want 250 to %d", n, most)
		}
		end()
		worker.close()
	})
}

// TestRandomScansPause: scans that take long and find nothing in the whole table take a third of the
// time. Those that meet another process go on.
func TestRandomScansPause(t *testing.T) {
	for _, met := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t)
			scans := &countedScans{Table: f.table, group: "~notify", takes: time.Second}
			f.table = scans
			if met {
				loader := f.join(0)
				loader.set("row 0", "a", "0")
				loader.close()
				if _, err := f.coordinator.Join().TryLock(t.Context(), []string{lockName("first", "row 0")}); err != nil {
					t.Error(err)
				}
			}
			worker := f.join(1)
			time.Sleep(time.Minute)
			if n := scans.n.Load(); met && n < 50 || !met && n > 22 {
				t.Errorf("%d scans of a second in a minute, and another process is met: %t", n, met)
			}
			worker.close()
		})
	}
}

// TestScansAfterFailure: a scan that has waited for the store in vain is tried again soon, however
// long it has waited.
func TestScansAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		scans := &countedScans{Table: f.table, group: "~notify", takes: 30 * time.Second}
		scans.down.Store(true)
		f.table = scans
		worker := f.join(1)
		f.leader.Store(worker.process)
		time.Sleep(10 * time.Minute)
		if n := scans.n.Load(); n < 38 { // twenty for any observer, and twenty for those with a lease
			t.Errorf("%d scans of half a minute in ten minutes", n)
		}
		scans.down.Store(false)
		worker.close()
	})
}

// TestScansAfterSilence: a scan that has waited for the store, and then succeeds, is followed by the
// next one soon.
func TestScansAfterSilence(t *testing.T) {
	for _, group := range []string{"~notify", "~notify-leased"} {
		t.Run(group, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t)
				scans := &countedScans{Table: f.table, group: group}
				f.table = scans
				worker := f.join(1)
				f.leader.Store(worker.process)
				time.Sleep(time.Minute)
				scans.silent.Store(true)
				time.Sleep(10 * time.Second) // a scan has begun
				scans.silent.Store(false)
				time.Sleep(25 * time.Second) // it has ended
				before := scans.n.Load()
				time.Sleep(10 * time.Second)
				if n := scans.n.Load() - before; n < 30 {
					t.Errorf("%d scans in the ten seconds after a long one, want 30 at least", n)
				}
				worker.close()
			})
		})
	}
}
