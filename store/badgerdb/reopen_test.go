package badgerdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/webindexer/indexer/store"
)

func mutation(group, column string, ts uint64, value string) store.Mutation {
	return store.Mutation{Group: group, Column: []byte(column), TS: ts, Value: []byte(value)}
}

func mustMutate(t testing.TB, db *DB, row string, muts ...store.Mutation) {
	t.Helper()
	res, err := db.Mutate(context.Background(), store.RowMutation{Row: []byte(row), Mutations: muts})
	if err != nil || res.Outcome != store.Applied {
		t.Fatalf("Mutate: %v, %v", res.Outcome, err)
	}
}

func readRow(t testing.TB, r store.Reader, row string) string {
	t.Helper()
	var b strings.Builder
	for _, g := range testGroups {
		cells, err := r.Read(context.Background(), []byte(row), store.Selector{Group: g.Name, Prefix: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cells {
			fmt.Fprintf(&b, " %s:%s@%d=%.20s", c.Group, c.Column, c.TS, c.Value)
		}
	}
	return strings.TrimSpace(b.String())
}

// TestReopen: cells, resident sets, bounds and sequence numbers come back.
func TestReopen(t *testing.T) {
	dir := t.TempDir()
	want := ""
	for i := range uint64(5) {
		db := openTest(t, dir, Options{SyncWrites: i%2 == 1})
		if got := readRow(t, db, "r"); got != want {
			t.Fatalf("opening %d: %s, want %s", i, got, want)
		}
		// The lock of the last opening still guards, and its absence too.
		guarded := store.RowMutation{Row: []byte("r"), Absent: []store.Selector{{Group: "lock", Column: []byte("l")}}, Mutations: []store.Mutation{mutation("data", "never", 1, "")}}
		res, err := db.Mutate(context.Background(), guarded)
		if err != nil || (res.Outcome == store.Refused) != (i > 0) {
			t.Fatalf("opening %d: guard on the lock: %v, %v", i, res.Outcome, err)
		}
		mustMutate(t, db, "r", mutation("data", "c", 10*i, "v"), mutation("last", "c", 10*i, "v"), mutation("lock", "l", i, "v"),
			store.Mutation{Op: store.DeleteUpTo, Group: "data", Column: []byte("never"), TS: 1})
		want = readRow(t, db, "r")
		closeTest(t, db)
	}
	if want != "data:c@40=v data:c@30=v data:c@20=v data:c@10=v data:c@0=v last:c@40=v lock:l@4=v" {
		t.Errorf("got %s", want)
	}
}

// TestFloorAfterOpen: right after opening, a guard from a timestamp above all that
// were ever written is answered from memory, and one from below still looks.
func TestFloorAfterOpen(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	mustMutate(t, db, "r", mutation("data", "c", 500, "v"))
	mustMutate(t, db, "r", mutation("data", "c", 400, "v"))
	closeTest(t, db)
	db = openTest(t, dir, Options{})
	defer closeTest(t, db)
	guard := func(minTS uint64) store.Outcome {
		res, err := db.Mutate(context.Background(), store.RowMutation{Row: []byte("r"), Absent: []store.Selector{{Group: "data", Column: []byte("c"), MinTS: minTS}}})
		if err != nil {
			t.Fatal(err)
		}
		return res.Outcome
	}
	if got := guard(boundStride); got != store.Applied {
		t.Errorf("guard from %d: %v", boundStride, got)
	}
	if s := db.Stats(); s.GuardsFast != 1 || s.GuardsSlow != 0 {
		t.Errorf("guard from %d: %d fast, %d slow", boundStride, s.GuardsFast, s.GuardsSlow)
	}
	if got := guard(501); got != store.Applied { // the bound is stored in strides
		t.Errorf("guard from 501: %v", got)
	}
	if got := guard(500); got != store.Refused {
		t.Errorf("guard from 500: %v", got)
	}
	// A put in the past must not hide what was there before opening.
	mustMutate(t, db, "r", mutation("data", "c", 7, "v"))
	if got := guard(450); got != store.Refused {
		t.Errorf("guard from 450 after a put at 7: %v", got)
	}
}

// TestBoundsInStrides: the stored bounds hold all timestamps ever put, and are
// written once a stride.
func TestBoundsInStrides(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	var written []uint64 // in which groups
	for _, ts := range []uint64{0, 1, 500, boundStride - 1, boundStride, 7, 3*boundStride + 1, 3*boundStride + 2} {
		mustMutate(t, db, "r", mutation("data", "c", ts, "v"))
		v := db.views.acquire()
		item, err := v.txn.Get(boundsKey)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(written); n == 0 || written[n-1] != item.Version() {
			written = append(written, item.Version())
		}
		db.views.release(v)
		if got := db.committer.bounds[db.group("data").number]; got < ts || got >= 4*boundStride {
			t.Errorf("bound %d after a put at %d", got, ts)
		}
	}
	if len(written) != 3 {
		t.Errorf("written in groups %v, want three", written)
	}
	want := db.committer.bounds
	closeTest(t, db)
	db = openTest(t, dir, Options{})
	defer closeTest(t, db)
	if db.committer.bounds != want {
		t.Errorf("after opening %v, want %v", db.committer.bounds, want)
	}
}

func TestGroupsMayGrowOnly(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	mustMutate(t, db, "r", mutation("data", "c", 1, "v"))
	closeTest(t, db)
	for _, tc := range []struct {
		name   string
		groups []store.GroupSpec
		ok     bool
	}{
		{"missing", testGroups[:2], false},
		{"changed", []store.GroupSpec{{Name: "data", Latest: true}, testGroups[1], testGroups[2]}, false},
		{"twice", append([]store.GroupSpec{{Name: "data"}}, testGroups...), false},
		{"other order, one no longer resident", []store.GroupSpec{{Name: "lock", Latest: true}, testGroups[1], testGroups[0]}, true},
		{"more", append([]store.GroupSpec{{Name: "new\n\"one\""}}, testGroups...), true},
		{"without the new one", testGroups, false},
		{"more again", append([]store.GroupSpec{{Name: "new\n\"one\""}}, testGroups...), true},
	} {
		db, err := Open(dir, tc.groups, Options{})
		if (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.name, err)
		}
		if err == nil {
			if got := readRow(t, db, "r"); got != "data:c@1=v" {
				t.Errorf("%s: %s", tc.name, got)
			}
			closeTest(t, db)
		}
	}
}

// TestLargeValues: values beyond Badger's threshold survive overwriting, garbage
// collection and reopening.
func TestLargeValues(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	value := bytes.Repeat([]byte("large "), 2<<20/6)
	for i := range uint64(5) {
		mustMutate(t, db, "r", mutation("last", "c", i, string(value)), mutation("data", "c", i, string(value)),
			store.Mutation{Op: store.DeleteUpTo, Group: "data", Column: []byte("c"), TS: i - min(i, 1)})
	}
	for range 2 {
		if err := db.Reclaim(context.Background()); err != nil {
			t.Errorf("Reclaim: %v", err)
		}
		if err := db.Verify(context.Background()); err != nil {
			t.Errorf("Verify: %v", err)
		}
		cells, err := db.Read(context.Background(), []byte("r"), store.Selector{Group: "last", Prefix: true}, store.Selector{Group: "data", Prefix: true})
		if err != nil || len(cells) != 2 {
			t.Fatalf("%d cells, %v", len(cells), err)
		}
		for _, c := range cells {
			if c.TS != 4 || !bytes.Equal(c.Value, value) {
				t.Errorf("cell of %s at %d with %d bytes", c.Group, c.TS, len(c.Value))
			}
		}
		closeTest(t, db)
		db = openTest(t, dir, Options{})
	}
	closeTest(t, db)
}

func TestDeleteUpToOfTooMany(t *testing.T) {
	db := openTest(t, t.TempDir(), Options{})
	defer closeTest(t, db)
	column := strings.Repeat("c", 8<<10)
	const versions = 1500 // × 8 KiB of key > one transaction
	for ts := uint64(1); ts <= versions; ts += 500 {
		var muts []store.Mutation
		for i := range uint64(500) {
			muts = append(muts, mutation("data", column, ts+i, ""))
		}
		mustMutate(t, db, "r", muts...)
	}
	doom := func(ts uint64) error {
		_, err := db.Mutate(context.Background(), store.RowMutation{Row: []byte("r"), Mutations: []store.Mutation{
			mutation("data", "side", 1, ""), {Op: store.DeleteUpTo, Group: "data", Column: []byte(column), TS: ts}}})
		return err
	}
	if err := doom(versions); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("DeleteUpTo of all: %v, want ErrTooLarge", err)
	}
	if cells, err := db.Read(context.Background(), []byte("r"), store.Selector{Group: "data", Prefix: true}); err != nil || len(cells) != versions {
		t.Errorf("after that %d cells, %v", len(cells), err)
	}
	for _, ts := range []uint64{700, 1400, versions} {
		if err := doom(ts); err != nil {
			t.Errorf("DeleteUpTo(%d): %v", ts, err)
		}
	}
	if cells, err := db.Read(context.Background(), []byte("r"), store.Selector{Group: "data", Prefix: true}); err != nil || len(cells) != 1 {
		t.Errorf("at the end %d cells, %v", len(cells), err)
	}
}

// TestGreatestTimestamps: the bound of a group's timestamps is never above the greatest one that there is,
// or a column would seem to have no cell.
func TestGreatestTimestamps(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	mustMutate(t, db, "far", mutation("data", "c", store.MaxTS-1, "v"), mutation("last", "c", store.MaxTS, "v"))
	closeTest(t, db)
	db = openTest(t, dir, Options{})
	mustMutate(t, db, "row", mutation("data", "c", 1, "v"))
	for row, want := range map[string]uint64{"row": 1, "far": store.MaxTS - 1} {
		cells, err := db.Read(t.Context(), []byte(row), store.Selector{Group: "data", Column: []byte("c"), Newest: 1})
		if err != nil || len(cells) != 1 || cells[0].TS != want {
			t.Errorf("row %s: %v, %v; want the cell at %d", row, cells, err, want)
		}
	}
	closeTest(t, db)
}
