package badgerdb

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/webindexer/indexer/store"
)

var testGroups = []store.GroupSpec{{Name: "data"}, {Name: "last", Latest: true}, {Name: "lock", Latest: true, Resident: true}}

func openTest(t testing.TB, dir string, opts Options) *DB {
	t.Helper()
	db, err := Open(dir, testGroups, opts)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func closeTest(t testing.TB, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestNoTornReads is the probe for claim 1 of views.go. A writer moves all rows to
// the next number in one Commit, over and over; readers spin on Snapshots and on
// Scans and must find one number in all rows. Beside them one reader asks Badger at
// the greatest version, as a program without views would, and counts the halves it
// sees: that shows that the probe can see them.
func TestNoTornReads(t *testing.T) {
	db := openTest(t, t.TempDir(), Options{})
	defer closeTest(t, db)
	db.UseClock(&countingClock{})
	const width = 8
	rounds := uint64(2000)
	if testing.Short() {
		rounds = 500
	}
	move := func(n uint64) {
		var rows []store.RowMutation
		for i := range width {
			rows = append(rows, store.RowMutation{Row: fmt.Append(nil, i), Mutations: []store.Mutation{
				{Group: "last", Column: []byte("n"), TS: n, Value: binary.BigEndian.AppendUint64(nil, n)}}})
		}
		if _, res, err := db.Commit(context.Background(), rows); err != nil || res.Outcome != store.Applied {
			t.Errorf("Commit: %v, %v", res, err)
		}
	}
	move(1)
	var (
		done               atomic.Bool
		reads, naive, torn atomic.Int64
		wg                 sync.WaitGroup
	)
	wg.Go(func() {
		for !done.Load() {
			snap := db.Snapshot()
			first := number(t, snap, 0)
			for i := 1; i < width; i++ {
				if n := number(t, snap, i); n != first {
					t.Errorf("torn snapshot: %d and %d", first, n)
				}
			}
			snap.Close()
			reads.Add(1)
		}
	})
	wg.Go(func() {
		for !done.Load() {
			seen := map[uint64]bool{}
			_, err := db.Scan(context.Background(), store.Range{Group: "last"}, func(c store.Cell) error {
				seen[c.TS] = true
				return nil
			})
			if err != nil || len(seen) != 1 {
				t.Errorf("torn scan: %v, %v", seen, err)
			}
			reads.Add(1)
		}
	})
	wg.Go(func() {
		for !done.Load() {
			if naiveTorn(t, db, width) {
				torn.Add(1)
			}
			naive.Add(1)
		}
	})
	for n := uint64(2); n <= rounds; n++ {
		move(n)
	}
	done.Store(true)
	wg.Wait()
	t.Logf("%d reads, none torn; at the greatest version %d of %d were", reads.Load(), torn.Load(), naive.Load())
}

func number(t *testing.T, r store.Reader, row int) uint64 {
	cells, err := r.Read(context.Background(), fmt.Append(nil, row), store.Selector{Group: "last", Column: []byte("n")})
	if err != nil || len(cells) != 1 {
		t.Errorf("Read: %v, %v", cells, err)
		return 0
	}
	return cells[0].TS
}

func naiveTorn(t *testing.T, db *DB, width int) bool {
	r := db.readerAt(math.MaxUint64, groupSet{})
	// Rows are read one after the other at "now", so a later row with a greater
	// number is no surprise. A later row with a smaller one is.
	last := uint64(0)
	for i := range width {
		cells, err := r.read(context.Background(), fmt.Append(nil, i), []store.Selector{{Group: "last", Column: []byte("n")}})
		if err != nil || len(cells) != 1 {
			t.Errorf("read: %v, %v", cells, err)
			return false
		}
		if cells[0].TS < last {
			return true
		}
		last = cells[0].TS
	}
	return false
}

type countingClock struct{ last uint64 }

func (c *countingClock) Reserve(n int) (uint64, error) {
	first := c.last + 1
	c.last += uint64(n)
	return first, nil
}

func (c *countingClock) Visible() {}
