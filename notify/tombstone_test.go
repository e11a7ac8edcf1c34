package notify

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/txn"
)

// BenchmarkTombstones measures what looking for notifications costs when there are
// none: in a table that never had any, and after many have come and gone. In a
// log-structured store each of them leaves a tombstone, and a scan steps over all of
// these: the rescan, and each Quiesce. The engine therefore keeps the notify group in
// memory (store.GroupSpec.Resident) and knows when it is empty; resident=false is the
// same table without that. A million takes half a minute to prepare: INDEXER_LONG=1.
func BenchmarkTombstones(b *testing.B) {
	for _, gone := range []int{0, 10_000, 1_000_000} {
		if gone > 100_000 && !testenv.Long() {
			continue
		}
		for _, resident := range []bool{true, false} {
			b.Run(fmt.Sprintf("gone=%d/resident=%v", gone, resident), func(b *testing.B) { tombstones(b, gone, resident) })
		}
	}
}

func tombstones(b *testing.B, gone int, resident bool) {
	specs := slices.Clone(groups)
	for i := range specs {
		specs[i].Resident = specs[i].Resident && (resident || specs[i].Name != "~notify")
	}
	table, err := badgerdb.Open(b.TempDir(), specs, badgerdb.Options{MinFreeBytes: -1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = table.Close() })
	ended := make(chan struct{}, 1)
	o := Observer{Name: "watch", Watches: col("x"), Weak: true, Batch: 32, Run: nothing}
	comeAndGo(b, newRig(b, table, Options{}, o), gone)
	r := newRig(b, table, Options{Events: Events{Ran: func(string, int, time.Duration) { ended <- struct{}{} }}}, o).start()
	b.Run("quiesce", func(b *testing.B) {
		for b.Loop() {
			r.quiesce()
		}
	})
	b.Run("latency", func(b *testing.B) { // from a commit to the end of the run it causes
		for b.Loop() {
			r.set("a", "x", "v")
			<-ended
		}
	})
	r.close()
}

// comeAndGo sends weak notifications to n rows and has them answered. Then it
// closes the rig.
func comeAndGo(t testing.TB, r *rig, n int) {
	t.Helper()
	ctx := context.Background()
	r.start()
	for i := 0; i < n; {
		if err := r.p.Admit(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := r.db.Run(ctx, func(tx *txn.Txn) error {
			for range min(100, n-i) {
				tx.Notify(fmt.Sprintf("row %09d", i*7919%max(n, 1)), col("x"))
				i++
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	r.quiesce()
	r.close()
}

// The benchmark shows why; nothing else would fail without it.
func TestNotifyGroupIsResident(t *testing.T) {
	for _, g := range groups {
		if g.Name == "~notify" && !g.Resident {
			t.Error("scans for notifications step over the tombstones of all that have come and gone")
		}
	}
}
