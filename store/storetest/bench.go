package storetest

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/webindexer/indexer/store"
)

// Bench measures an engine with what package txn asks of it: guarded batches of
// about 20 small cells from 8 goroutines, reads of one small row, and scans.
func Bench(b *testing.B, open Opener) {
	b.Run("Commit20", func(b *testing.B) { benchCommit(b, open) })
	b.Run("Mutate", func(b *testing.B) { benchMutate(b, open) })
	b.Run("Read", func(b *testing.B) { benchRead(b, open) })
	b.Run("Scan", func(b *testing.B) { benchScan(b, open) })
}

const benchCells = 20

// benchCommit reports cells/s.
func benchCommit(b *testing.B, open Opener) {
	f := start(b, open)
	c, ok := f.table.(store.Committer)
	if !ok {
		b.Skip("the table is not a Committer")
	}
	c.UseClock(newClock())
	var next atomic.Uint64
	b.SetParallelism(4) // × GOMAXPROCS: 8 on two cores
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, res, err := c.Commit(ctx, benchBatch(next.Add(1))); err != nil || res.Outcome != store.Applied {
				b.Errorf("Commit = %v, %v", res, err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)*benchCells/b.Elapsed().Seconds(), "cells/s")
}

// benchBatch is one transaction in one phase: four rows, each guarded twice.
func benchBatch(n uint64) (rows []store.RowMutation) {
	for i := range uint64(4) {
		m := row(fmt.Sprintf("com.example.%d/page/%d", (n*31+i*7919)%100_000, i))
		m.Absent = []store.Selector{
			{Group: versioned, Column: []byte("write:a"), MinTS: 1000 + n*2},
			exact(locks, "a"),
		}
		for j := range benchCells / 4 {
			m.Mutations = append(m.Mutations, put(versioned, fmt.Sprint("write:", j), store.AtCommit, "a value of about thirty bytes."))
		}
		rows = append(rows, m)
	}
	return rows
}

func benchMutate(b *testing.B, open Opener) {
	f := start(b, open)
	var next atomic.Uint64
	b.SetParallelism(4)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n := next.Add(1)
			m := row(fmt.Sprint("row", n), put(latest, "c", n, "a value of about thirty bytes."))
			m.Absent = []store.Selector{{Group: latest, Column: []byte("c"), MinTS: n}}
			if res, err := f.table.Mutate(ctx, m); err != nil || res.Outcome != store.Applied {
				b.Errorf("Mutate = %v, %v", res, err)
				return
			}
		}
	})
}

// fill writes rows of five versioned and two latest cells.
func (f *fixture) fill(rows int) {
	f.Helper()
	var batch []store.RowMutation
	for i := range rows {
		m := row(benchRow(i))
		for v := uint64(1); v <= 5; v++ {
			m.Mutations = append(m.Mutations, put(versioned, "write:a", v, "a value of about thirty bytes."))
		}
		m.Mutations = append(m.Mutations, put(latest, "a", 5, "a value of about thirty bytes."), put(latest, "b", 5, "x"))
		if batch = append(batch, m); len(batch) == 1000 || i == rows-1 {
			if err := f.table.Apply(ctx, batch); err != nil {
				f.Fatal(err)
			}
			batch = nil
		}
	}
}

func benchRow(i int) string { return fmt.Sprintf("com.example.%07d/", i) }

func benchRead(b *testing.B, open Opener) {
	f := start(b, open)
	f.fill(benchRows)
	BenchReads(b, f.table)
}

const benchRows = 20_000

// Fill writes what BenchReads reads. A durable engine can close and open the
// table in between, to measure what comes from its files.
func Fill(t testing.TB, table store.Table) {
	(&fixture{TB: t, table: table}).fill(benchRows)
}

// BenchReads measures reads of random rows of a filled table.
func BenchReads(b *testing.B, table store.Table) {
	const rows = benchRows
	newestWrite := store.Selector{Group: versioned, Column: []byte("write:a"), MaxTS: 4, Newest: 1}
	for _, bc := range []struct {
		name string
		want int
		sel  []store.Selector
	}{
		{"Latest", 1, []store.Selector{exact(latest, "a")}},
		{"Versioned", 1, []store.Selector{newestWrite}},
		{"LockAndWrite", 1, []store.Selector{exact(locks, "a"), newestWrite}},
		{"Row", 7, []store.Selector{prefix(versioned, ""), prefix(latest, "")}},
		{"Absent", 0, []store.Selector{exact(latest, "nope")}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				cells, err := table.Read(ctx, []byte(benchRow(rand.IntN(rows))), bc.sel...)
				if err != nil || len(cells) != bc.want {
					b.Fatalf("%s, %v", show(cells), err)
				}
			}
		})
	}
}

// benchScan reports cells/s.
func benchScan(b *testing.B, open Opener) {
	f := start(b, open)
	f.fill(benchRows)
	for _, newest := range []int{0, 1} {
		b.Run(fmt.Sprint("Newest", newest), func(b *testing.B) {
			cells := 0
			b.ReportAllocs()
			for range b.N {
				_, err := f.table.Scan(ctx, store.Range{Group: versioned, Newest: newest}, func(store.Cell) error {
					cells++
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cells)/b.Elapsed().Seconds(), "cells/s")
		})
	}
}
