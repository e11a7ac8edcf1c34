package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/storetest"
	"github.com/webindexer/indexer/txn"
)

func Benchmark(b *testing.B) { storetest.Bench(b, open) }

// BenchmarkTransfer runs transactions that read two rows and write both, from several
// goroutines, and reports how many there are in a second and what each asks of the server.
func BenchmarkTransfer(b *testing.B) {
	const accounts = 2000
	ctx := context.Background()
	balance := txn.Column{Group: "app", Name: "balance"}
	for _, goroutines := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(goroutines), func(b *testing.B) {
			table, err := Open(ctx, pgtest.Shared(b).Schema(b), txn.Groups("app"), Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer table.Close()
			calls := &counting{Table: table}
			db, err := txn.Open(ctx, calls, txn.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			calls.n.Store(0)
			var (
				next, retries atomic.Int64
				work          sync.WaitGroup
			)
			b.ResetTimer()
			for range goroutines {
				work.Go(func() {
					for next.Add(1) <= int64(b.N) {
						from := rand.IntN(accounts)
						rows := []string{account(from), account((from + 1 + rand.IntN(accounts-1)) % accounts)}
						tries := int64(-1)
						if _, err := db.Run(ctx, func(tx *txn.Txn) error {
							tries++
							for _, row := range rows {
								if _, err := tx.Get(ctx, row, balance); err != nil {
									return err
								}
								tx.Set(row, balance, []byte("100"))
							}
							return nil
						}); err != nil {
							b.Error(err)
						}
						retries.Add(tries)
					}
				})
			}
			work.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "txn/s")
			b.ReportMetric(float64(calls.n.Load())/float64(b.N), "calls/txn")
			b.ReportMetric(float64(retries.Load())/float64(b.N), "retries/txn")
		})
	}
}

// counting counts the calls of a table.
type counting struct {
	store.Table
	n atomic.Int64
}

func (c *counting) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	c.n.Add(1)
	return c.Table.Read(ctx, row, sel...)
}

func (c *counting) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	c.n.Add(1)
	return c.Table.Scan(ctx, r, fn)
}

func (c *counting) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	c.n.Add(1)
	return c.Table.Mutate(ctx, m)
}

func (c *counting) Apply(ctx context.Context, rows []store.RowMutation) error {
	c.n.Add(1)
	return c.Table.Apply(ctx, rows)
}

// BenchmarkReads reads a lock and the newest write of random rows, as transactions do.
func BenchmarkReads(b *testing.B) {
	for _, goroutines := range []int{1, 16, 64} {
		b.Run(fmt.Sprint(goroutines), func(b *testing.B) {
			table := open(b, storetest.Groups)
			defer table.Close()
			storetest.Fill(b, table)
			var (
				next atomic.Int64
				work sync.WaitGroup
			)
			b.ResetTimer()
			for range goroutines {
				work.Go(func() {
					for next.Add(1) <= int64(b.N) {
						cells, err := table.Read(b.Context(), fmt.Appendf(nil, "com.example.%07d/", rand.IntN(20_000)),
							store.Selector{Group: "locks", Column: []byte("a")}, store.Selector{Group: "versioned", Column: []byte("write:a"), MaxTS: 4, Newest: 1})
						if err != nil || len(cells) != 1 {
							b.Errorf("%d cells, %v", len(cells), err)
						}
					}
				})
			}
			work.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reads/s")
		})
	}
}
