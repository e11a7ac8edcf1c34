package repository_test

import (
	"context"
	"sync"
	"testing"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify"
)

// disturbance takes timestamps as other processes would: when a caller has found all work done, which
// asks for the last timestamp twice, and asks again whether that still holds.
type disturbance struct {
	txn.Timestamps

	mu          sync.Mutex
	left, times int
	last        uint64
}

func (d *disturbance) Last(ctx context.Context) (uint64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ts, err := d.Timestamps.Last(ctx)
	if ts != d.last {
		d.last, d.times = ts, 0
	}
	if d.times++; d.times > 2 && d.left > 0 {
		d.left--
		return d.Timestamps.Next(ctx)
	}
	return ts, err
}

// TestQuietDisturbed: on a shared table, another process takes timestamps while this one looks for a
// moment at which all work is done.
func TestQuietDisturbed(t *testing.T) {
	f := newFleet(t)
	p := f.coordinator.Join()
	d := &disturbance{Timestamps: p}
	r := open(t, t.TempDir(), repository.Options{Table: f.table, Share: &repository.Share{
		Coordination: &txn.Coordination{Timestamps: d, Liveness: p, RowLocks: p}, Works: true, Leases: []string{observers.LeaseRank, observers.LeaseIndex},
	}})
	load(t, r, 3, mustReadWeb(t, ownWebs))
	indexHolder(t, &member{r, p})
	d.mu.Lock()
	d.left = 5
	d.mu.Unlock()
	rep, err := verify.Run(t.Context(), r)
	if err != nil || rep.Total > 0 || rep.Checked["index_files"] == 0 {
		t.Errorf("verify: %+v, %v", rep, err)
	}
	closeNow(t, r)
}
