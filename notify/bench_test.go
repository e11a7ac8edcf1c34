package notify

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/webindexer/indexer/txn"
)

// BenchmarkQueue measures what the queue alone costs for each notification:
// added, taken, finished.
func BenchmarkQueue(b *testing.B) {
	for _, batch := range []int{1, 32} {
		b.Run(fmt.Sprint("batch=", batch), func(b *testing.B) {
			registry, err := NewRegistry(Observer{Name: "watch", Watches: col("x"), Batch: batch, Run: nothing})
			if err != nil {
				b.Fatal(err)
			}
			q := newQueue(registry, 1<<20)
			rows := make([]string, 10_000)
			for i := range rows {
				rows[i] = fmt.Sprintf("row %08d", i*7919%len(rows))
			}
			b.ReportAllocs()
			ts := uint64(0)
			for b.Loop() {
				ts++
				q.add([]txn.Notification{{Cell: txn.Cell{Row: rows[ts%10_000], Column: col("x")}, Observer: "watch", TS: ts}}, false)
				if ts%1000 < 999 {
					continue
				}
				for got := q.take(); got != nil; got = q.take() {
					for _, e := range got {
						e.covered = ts
					}
					q.finished(got)
				}
			}
		})
	}
}

// BenchmarkPipeline measures notifications a second through an observer that
// does nothing: the run's transaction removes the notification and acknowledges
// it. The notifications are in the table before the time begins.
func BenchmarkPipeline(b *testing.B) {
	for _, e := range engines {
		for _, workers := range []int{1, 4} {
			for _, batch := range []int{1, 32} {
				b.Run(fmt.Sprintf("%s/workers=%d/batch=%d", e.name, workers, batch), func(b *testing.B) {
					o := Observer{Name: "watch", Watches: col("x"), Batch: batch, Run: nothing}
					r := newRig(b, e.open(b), Options{Workers: workers, Capacity: 1 << 22}, o)
					preload(b, r, b.N)
					b.ResetTimer()
					r.startRunning()
					if err := r.p.wait(context.Background(), func(q *queue) bool { return len(q.entries) == 0 }); err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "notifications/s")
					r.close()
				})
			}
		}
	}
}

// preload writes n observed rows.
func preload(b *testing.B, r *rig, n int) {
	ctx := context.Background()
	for i := 0; i < n; {
		if _, err := r.db.Run(ctx, func(tx *txn.Txn) error {
			for range min(1000, n-i) {
				tx.Set(strconv.Itoa(i), col("x"), []byte("v"))
				i++
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
}

// startRunning starts workers without a scan: the rows were handed over.
func (r *rig) startRunning() {
	p := r.p
	p.db = r.db
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	p.launchWorkers(ctx)
}

// BenchmarkLatency measures the time from a commit to the end of the run it
// causes.
func BenchmarkLatency(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			ended := make(chan struct{}, 1)
			r := newRig(b, e.open(b), Options{Events: Events{Ran: func(string, int, time.Duration) { ended <- struct{}{} }}}, watch(nothing)).start()
			n := 0
			for b.Loop() {
				n++
				r.set(strconv.Itoa(n), "x", "v")
				<-ended
			}
			r.close()
		})
	}
}
