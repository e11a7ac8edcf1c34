package badgerdb

import (
	"context"
	"fmt"
	"testing"

	"github.com/webindexer/indexer/store"
)

// A resident group that had too many cells at once is known to be empty again after
// one scan has found nothing.
func TestLostSetRecovers(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped with -short: one goroutine writes 260,000 rows")
	}
	ctx := context.Background()
	db, err := Open(t.TempDir(), []store.GroupSpec{{Name: "n", Latest: true, Resident: true}}, Options{MinFreeBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	apply := func(op store.Op, from, to int) {
		t.Helper()
		var rows []store.RowMutation
		for i := from; i < to; i++ {
			rows = append(rows, store.RowMutation{Row: []byte(fmt.Sprint("row", i)), Mutations: []store.Mutation{{Op: op, Group: "n", Column: []byte("c"), TS: 1}}})
		}
		if err := db.Apply(ctx, rows); err != nil {
			t.Fatal(err)
		}
	}
	scan := func() (cells int) {
		t.Helper()
		if _, err := db.Scan(ctx, store.Range{Group: "n"}, func(store.Cell) error { cells++; return nil }); err != nil {
			t.Fatal(err)
		}
		return cells
	}
	knownEmpty := func() bool {
		v := db.views.acquire()
		defer db.views.release(v)
		return v.empty.has(0)
	}
	const many = maxResident + 10
	apply(store.Put, 0, many)
	apply(store.Delete, 1, many)
	if n := scan(); n != 1 || knownEmpty() {
		t.Fatalf("%d cells, known to be empty: %v", n, knownEmpty())
	}
	apply(store.Put, 1, 2)
	apply(store.Delete, 0, 2)
	if n := scan(); n != 0 || knownEmpty() {
		t.Fatalf("%d cells, known to be empty: %v", n, knownEmpty())
	}
	apply(store.Put, 2, 3) // after the scan, whose result is now out of date
	if n := scan(); n != 1 || knownEmpty() {
		t.Fatalf("%d cells, known to be empty: %v", n, knownEmpty())
	}
	apply(store.Delete, 2, 3)
	if n := scan(); n != 0 || !knownEmpty() {
		t.Fatalf("%d cells, known to be empty: %v", n, knownEmpty())
	}
	apply(store.Put, 3, 4)
	if n := scan(); n != 1 || knownEmpty() {
		t.Fatalf("%d cells, known to be empty: %v", n, knownEmpty())
	}
}
