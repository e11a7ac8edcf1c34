package notify

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// slowScans is a table in which the next scan that finds something in a group takes a while
// to return.
type slowScans struct {
	table
	group string
	takes atomic.Int64 // a time.Duration
}

func (s *slowScans) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	found := false
	next, err := s.table.Scan(ctx, r, func(c store.Cell) error {
		found = true
		return fn(c)
	})
	if found && r.Group == s.group {
		time.Sleep(time.Duration(s.takes.Swap(0)))
	}
	return next, err
}

// TestQuiesceWaitsForScans: a scan reads a notification, and its row is run before the scan
// hands it over. A weak observer then runs the row once more. Quiesce must not return before.
func TestQuiesceWaitsForScans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		s := &slowScans{table: openMem(t).(table), group: "~notify"}
		r := newRig(t, s, Options{Workers: 1, Rescan: time.Minute}, Observer{Name: "o", Watches: col("x"), Weak: true, Run: func(context.Context, *txn.Txn, []string) error {
			if runs.Add(1) == 1 {
				time.Sleep(3 * time.Minute)
			}
			return nil
		}}).start()
		defer r.close()
		s.takes.Store(int64(time.Hour))
		if _, err := r.db.Run(t.Context(), func(tx *txn.Txn) error { tx.Notify("row", col("x")); return nil }); err != nil {
			t.Fatal(err)
		}
		r.quiesce()
		before := runs.Load()
		time.Sleep(2 * time.Hour)
		if after := runs.Load(); before < 2 || after != before {
			t.Errorf("%d runs when Quiesce returned, %d in the end; want 2 both times", before, after)
		}
	})
}

// TestSharedQuiesceEndsDebounce: even on a table that several processes share, rows of this process
// are not debounced while a caller waits, even if a loader is at work.
func TestSharedQuiesceEndsDebounce(t *testing.T) {
	f := newFleet(t)
	worker := f.join(1)
	f.leader.Store(worker.process)
	defer worker.p.Loading()()
	worker.load(0, 3)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // sum waits for twelve minutes otherwise
	defer cancel()
	if _, err := worker.p.Quiesce(ctx); err != nil {
		t.Error(err)
	}
	worker.close()
}
