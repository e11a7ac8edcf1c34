package notify

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"indexer/txn"
)

// TestExclusive: many workers, many rows, and never two runs of the observer at a time,
// while those of another go on. Nothing is lost when a run ends with others waiting.
func TestExclusive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most, ran, other atomic.Int64
		r := newRig(t, openMem(t), Options{Workers: 8},
			Observer{Name: "exclusive", Watches: col("x"), Weak: true, Exclusive: true, Batch: 3, Run: func(_ context.Context, _ *txn.Txn, rows []string) error {
				most.Store(max(most.Load(), running.Add(1)))
				time.Sleep(time.Millisecond) // of fake time: the others get a chance
				running.Add(-1)
				ran.Add(int64(len(rows)))
				return nil
			}},
			Observer{Name: "other", Watches: col("y"), Weak: true, Run: func(context.Context, *txn.Txn, []string) error { other.Add(1); return nil }},
		)
		if err := r.p.Start(t.Context(), r.db); err != nil {
			t.Fatal(err)
		}
		for i := range 100 {
			if _, err := r.db.Run(t.Context(), func(tx *txn.Txn) error {
				tx.Notify(fmt.Sprint(i), col("x"))
				tx.Notify(fmt.Sprint(i), col("y"))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.p.Quiesce(t.Context()); err != nil {
			t.Fatal(err)
		}
		if most.Load() != 1 || ran.Load() != 100 || other.Load() != 100 {
			t.Errorf("%d runs at a time, %d rows, %d of the other", most.Load(), ran.Load(), other.Load())
		}
		if err := r.p.Stop(); err != nil {
			t.Error(err)
		}
		if err := r.db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestAlign: rows of an exclusive observer that are notified at different times come
// due at the same one.
func TestAlign(t *testing.T) {
	registry, err := NewRegistry(
		Observer{Name: "exclusive", Watches: col("x"), Exclusive: true, Debounce: 5 * time.Second, Run: func(context.Context, *txn.Txn, []string) error { return nil }},
		Observer{Name: "each", Watches: col("y"), Debounce: 5 * time.Second, Run: func(context.Context, *txn.Txn, []string) error { return nil }},
	)
	if err != nil {
		t.Fatal(err)
	}
	q := newQueue(registry, 10)
	base := time.Unix(1_000_000, 0)
	for _, c := range []struct {
		observer  int
		ms, wantS int64
	}{{0, 0, 1}, {0, 1, 1}, {0, 999, 1}, {0, 1000, 2}, {0, 1700, 2}} {
		at := base.Add(time.Duration(c.ms) * time.Millisecond)
		if got := q.align(c.observer, at); got.Sub(base) != time.Duration(c.wantS)*time.Second {
			t.Errorf("%d ms becomes %v, want %d s", c.ms, got.Sub(base), c.wantS)
		}
	}
	if at := base.Add(123); !q.align(1, at).Equal(at) {
		t.Error("rows of other observers are moved")
	}
}
