package notify

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/store"
)

// countedScans counts the scans of one group, each of which takes a while. Beyond the bound they take
// an hour, so that a test of a loop without a pause ends.
type countedScans struct {
	store.Table
	group string
	takes time.Duration
	n     atomic.Int64
}

const scansBound = 10_000

func (c *countedScans) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	if r.Group == c.group {
		time.Sleep(c.takes)
		if c.n.Add(1) > scansBound {
			time.Sleep(time.Hour)
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

// TestRandomScansPause: scans that take long and find nothing take a third of the time.
func TestRandomScansPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t)
		scans := &countedScans{Table: f.table, group: "~notify", takes: time.Second}
		f.table = scans
		worker := f.join(1)
		time.Sleep(time.Minute)
		if n := scans.n.Load(); n > 22 {
			t.Errorf("%d scans of a second in a minute", n)
		}
		worker.close()
	})
}
