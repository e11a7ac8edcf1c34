package badgerdb_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
)

var reclaimGroups = []store.GroupSpec{{Name: "versions"}, {Name: "queue", Latest: true}}

// TestReclaim rewrites a table fifty times, deletes what was superseded, and
// measures: values in table files and, above 1 MiB, in the value log.
func TestReclaim(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	db := open(t, dir, reclaimGroups, badgerdb.Options{MinFreeBytes: -1})
	noise := rand.NewChaCha8([32]byte{1})
	live := 0
	write := func(row string, size int, round uint64) {
		value := make([]byte, size)
		_, _ = noise.Read(value) // does not compress
		m := []store.Mutation{{Op: store.Put, Group: "versions", Column: []byte("c"), TS: round, Value: value}}
		if round > 1 {
			m = append(m, store.Mutation{Op: store.Delete, Group: "versions", Column: []byte("c"), TS: round - 1})
		} else {
			live += size
		}
		if err := db.Apply(ctx, []store.RowMutation{{Row: []byte(row), Mutations: m}}); err != nil {
			t.Fatal(err)
		}
	}
	rows := []int{2 << 20, 3 << 20}
	for range 200 {
		rows = append(rows, 10_000)
	}
	for round := range uint64(50) {
		for i, size := range rows {
			write(fmt.Sprint("row", i), size, round+1)
		}
	}
	before := diskBytes(t, db)
	if err := db.Reclaim(ctx); err != nil {
		t.Fatal(err)
	}
	open := diskBytes(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = openAgain(t, dir)
	if err := db.Reclaim(ctx); err != nil { // what was the newest file of the value log can go now
		t.Fatal(err)
	}
	after := diskBytes(t, db)
	t.Logf("%.1f MB live; %.1f MB on the disk after 50 rounds, %.1f MB reclaimed, %.1f MB reclaimed after opening it again: %.2f times what is live",
		mb(live), mb(before), mb(open), mb(after), float64(after)/float64(live))
	if after > 2*int64(live) {
		t.Errorf("%d bytes on the disk for %d that are live", after, live)
	}
	for i, size := range rows {
		cells, err := db.Read(ctx, []byte(fmt.Sprint("row", i)), store.Selector{Group: "versions", Prefix: true})
		if err != nil || len(cells) != 1 || cells[0].TS != 50 || len(cells[0].Value) != size {
			t.Fatalf("row %d: %d cells, %v", i, len(cells), err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func openAgain(t *testing.T, dir string) *badgerdb.DB {
	return open(t, dir, reclaimGroups, badgerdb.Options{MinFreeBytes: -1})
}

func mb[N int | int64](n N) float64 { return float64(n) / 1e6 }

func diskBytes(t *testing.T, db *badgerdb.DB) int64 {
	t.Helper()
	n, err := db.DiskBytes()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Reclaim runs concurrently with readers, writers and an open snapshot, and none of
// them notices.
func TestReclaimBesideOthers(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	db := open(t, t.TempDir(), reclaimGroups, badgerdb.Options{MinFreeBytes: -1})
	put := func(ts uint64) error {
		return db.Apply(ctx, []store.RowMutation{{Row: []byte("a"), Mutations: []store.Mutation{
			{Op: store.Put, Group: "versions", Column: []byte("c"), TS: ts, Value: []byte(fmt.Sprint(ts))},
			{Op: store.DeleteUpTo, Group: "versions", Column: []byte("c"), TS: ts - 1},
		}}})
	}
	if err := put(1); err != nil {
		t.Fatal(err)
	}
	snapshot := db.Snapshot()
	all := store.Selector{Group: "versions", Prefix: true}
	var others sync.WaitGroup
	written := uint64(1)
	others.Go(func() {
		for ts := uint64(2); ; ts++ {
			if err := put(ts); err != nil {
				if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				return
			}
			written = ts
		}
	})
	others.Go(func() {
		var newest uint64
		for ctx.Err() == nil {
			cells, err := db.Read(context.Background(), []byte("a"), all)
			if err != nil || len(cells) != 1 || cells[0].TS < newest {
				t.Errorf("after %d: %v, %v", newest, cells, err)
				return
			}
			newest = cells[0].TS
		}
	})
	for range 10 {
		if err := db.Reclaim(context.Background()); err != nil {
			t.Error(err)
		}
	}
	cancel()
	others.Wait()
	old, err := snapshot.Read(context.Background(), []byte("a"), all)
	if err != nil || len(old) != 1 || old[0].TS != 1 {
		t.Errorf("the snapshot reads %v, %v", old, err)
	}
	snapshot.Close()
	now, err := db.Read(context.Background(), []byte("a"), all)
	if err != nil || len(now) != 1 || now[0].TS < written {
		t.Errorf("after %d writes: %v, %v", written, now, err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// What was deleted stays deleted, in all groups, over reclaims and openings.
func TestReclaimResurrectsNothing(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	db := openAgain(t, dir)
	rng := rand.New(rand.NewPCG(1, 2))
	want := make(map[string]uint64)
	for ts := uint64(1); ts <= 4000; ts++ {
		row := fmt.Sprint("row", rng.IntN(50))
		m := store.Mutation{Op: store.Put, Group: "queue", Column: []byte("c"), TS: ts, Value: []byte("x")}
		want[row] = ts
		if rng.IntN(2) == 0 {
			m = store.Mutation{Op: store.DeleteUpTo, Group: "queue", Column: []byte("c"), TS: ts}
			delete(want, row)
		}
		if err := db.Apply(ctx, []store.RowMutation{{Row: []byte(row), Mutations: []store.Mutation{m}}}); err != nil {
			t.Fatal(err)
		}
		switch ts % 500 {
		case 250:
			if err := db.Reclaim(ctx); err != nil {
				t.Fatal(err)
			}
		case 0:
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			db = openAgain(t, dir)
		}
		if ts%250 == 0 {
			compareQueue(t, db, want)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func compareQueue(t *testing.T, db *badgerdb.DB, want map[string]uint64) {
	t.Helper()
	var got []string
	_, err := db.Scan(context.Background(), store.Range{Group: "queue"}, func(c store.Cell) error {
		got = append(got, fmt.Sprint(string(c.Row), " ", c.TS))
		return nil
	})
	var list []string
	for row, ts := range want {
		list = append(list, fmt.Sprint(row, " ", ts))
	}
	slices.Sort(list)
	slices.Sort(got)
	if err != nil || !slices.Equal(got, list) {
		t.Fatalf("got %v, want %v: %v", got, list, err)
	}
}
