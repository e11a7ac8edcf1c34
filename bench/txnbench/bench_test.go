package txnbench

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/txn"
)

// BenchmarkHolders is one goroutine on each holder, for profiles; the comparison
// is Figure8's.
func BenchmarkHolders(b *testing.B) {
	for _, size := range []int{100, 10_000} {
		c := newCells(20_000_000/(size+100), size)
		opts := badgerdb.Options{}
		for name, open := range map[string]func(dir string) (holder, error){
			"raw": func(dir string) (holder, error) { return openRaw(dir, c, opts) },
			"one": func(dir string) (holder, error) {
				return openOurs(context.Background(), dir, c, txn.OnePhase, opts)
			},
			"two": func(dir string) (holder, error) {
				return openOurs(context.Background(), dir, c, txn.TwoPhase, opts)
			},
		} {
			benchHolder(b, name, c, open)
		}
	}
}

func benchHolder(b *testing.B, name string, c *cells, open func(dir string) (holder, error)) {
	b.Run(name, func(b *testing.B) {
		dir := b.TempDir()
		h, err := open(dir)
		if err == nil {
			err = errors.Join(c.fill(b.Context(), h), h.close())
		}
		if err == nil {
			h, err = open(dir)
		}
		if err != nil {
			b.Fatal(err)
		}
		defer func() {
			if err := h.close(); err != nil {
				b.Error(err)
			}
		}()
		for i := range c.rows {
			if err := h.read(b.Context(), i); err != nil {
				b.Fatal(err)
			}
		}
		for _, op := range []string{"read", "write"} {
			do := operation(h, c, op)
			b.Run(op, func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 2))
				b.ReportAllocs()
				began := measure.ProcessorTime()
				for b.Loop() {
					if err := do(b.Context(), rng); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(measure.ProcessorTime()-began)/float64(b.N), "cpu-ns/op")
			})
		}
	})
}
