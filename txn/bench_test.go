package txn

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
)

// The benchmarks run on store/badgerdb, in both modes; b.RunParallel, because
// the engine groups what is committed at once.

func benchModes(b *testing.B, fn func(b *testing.B, db *DB)) {
	for _, m := range modes {
		b.Run(m.name, func(b *testing.B) {
			table := openBadger(b, Groups("app"))
			defer closeTable(b, table)
			db := open(b, table, Options{Mode: m.mode})
			defer db.Close()
			b.ReportAllocs()
			fn(b, db)
		})
	}
}

const benchRows = 10_000

func benchRow(i int) string { return fmt.Sprintf("com.example/page%08d", i) }

var benchValue = make([]byte, 100)

func fill(b *testing.B, db *DB) {
	b.Helper()
	for i := 0; i < benchRows; i += 1000 {
		_, err := db.Run(context.Background(), func(tx *Txn) error {
			for j := range 1000 {
				tx.Set(benchRow(i+j), app("c"), benchValue)
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
}

// BenchmarkGet reads one cell in a transaction of its own.
func BenchmarkGet(b *testing.B) {
	benchModes(b, func(b *testing.B, db *DB) {
		fill(b, db)
		var n atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				tx := mustBegin(b, db)
				if v, err := tx.Get(context.Background(), benchRow(int(n.Add(1)*7919%benchRows)), app("c")); err != nil || !v.Exists {
					b.Error(v, err)
				}
				tx.Rollback()
			}
		})
	})
}

// BenchmarkSet buffers writes: what a transaction costs before its commit.
func BenchmarkSet(b *testing.B) {
	benchModes(b, func(b *testing.B, db *DB) {
		var tx *Txn
		for i := 0; b.Loop(); i++ {
			if i%100 == 0 {
				if tx != nil {
					tx.Rollback()
				}
				tx = mustBegin(b, db)
			}
			tx.Set("row", app(fmt.Sprint("c", i%100)), benchValue)
		}
		if tx != nil {
			tx.Rollback()
		}
	})
}

// BenchmarkCommit1 and BenchmarkCommit20 commit transactions of 1 and 20 cells, in rows
// of their own, from 64 goroutines for each processor.
func BenchmarkCommit1(b *testing.B)  { benchCommit(b, 1) }
func BenchmarkCommit20(b *testing.B) { benchCommit(b, 20) }

func benchCommit(b *testing.B, cells int) {
	benchModes(b, func(b *testing.B, db *DB) {
		b.SetParallelism(64)
		var n atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				base := int(n.Add(int64(cells)))
				_, err := db.Run(context.Background(), func(tx *Txn) error {
					for i := range cells {
						tx.Set(benchRow(base+i), app("c"), benchValue)
					}
					return nil
				})
				if err != nil {
					b.Error(err)
				}
			}
		})
		b.ReportMetric(float64(cells*b.N)/b.Elapsed().Seconds(), "cells/s")
	})
}
