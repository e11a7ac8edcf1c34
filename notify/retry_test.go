package notify

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/webindexer/indexer/txn"
)

// TestConflictHalves: after a conflict a batch comes back in halves, as batches. If one of
// its rows conflicts each time, that row ends alone, and no other row waits for it.
func TestConflictHalves(t *testing.T) {
	for _, c := range []struct {
		name      string
		conflicts func(run int, rows []string) bool
		want      []int // rows of the runs that committed, ascending
	}{
		{"never", func(int, []string) bool { return false }, []int{9}},
		{"once", func(run int, _ []string) bool { return run == 1 }, []int{4, 5}},
		{"one row, five times", func(run int, rows []string) bool { return run < 10 && slices.Contains(rows, "0") }, []int{1, 1, 1, 2, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var sizes []int
				runs := 0
				r := newRig(t, openMem(t), Options{Workers: 0}, Observer{Name: "o", Watches: col("x"), Batch: 20, Run: func(_ context.Context, _ *txn.Txn, rows []string) error {
					mu.Lock()
					defer mu.Unlock()
					if runs++; c.conflicts(runs, rows) {
						return fmt.Errorf("a test: %w", txn.ErrConflict)
					}
					sizes = append(sizes, len(rows))
					return nil
				}}).start()
				r.p.SetWorkers(0)
				synctest.Wait()
				for i := range 9 {
					r.set(fmt.Sprint(i), "x", "v")
				}
				r.p.SetWorkers(4)
				r.quiesce()
				slices.Sort(sizes)
				if !slices.Equal(sizes, c.want) {
					t.Errorf("runs of %v rows committed, want %v", sizes, c.want)
				}
				r.close()
			})
		})
	}
}
