package badgerdb

import (
	"context"
	"errors"
	"maps"
	"syscall"
	"testing"

	"github.com/dgraph-io/badger/v4/pb"

	"github.com/webindexer/indexer/store"
)

// TestFailedFlush: after Badger could not write a memtable the table takes no more writes. What was
// acknowledged before is there when it is opened again.
func TestFailedFlush(t *testing.T) {
	dir, groups, opts := t.TempDir(), []store.GroupSpec{{Name: "g"}}, Options{MinFreeBytes: -1}
	ctx := context.Background()
	m := store.RowMutation{Row: []byte("r"), Mutations: []store.Mutation{{Group: "g", Column: []byte("c"), TS: 1, Value: []byte("v")}}}
	db, err := Open(dir, groups, opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Mutate(ctx, m); err != nil {
		t.Fatal(err)
	}
	log := badgerLog{to: silent{}, failed: db.failed.note}
	log.Errorf(flushFailed+": %v, retrying", syscall.EIO)
	if _, err := db.Mutate(ctx, m); !errors.Is(err, store.ErrBroken) || !errors.Is(err, store.ErrIO) || !errors.Is(err, store.ErrNotDone) {
		t.Errorf("a write after that: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(dir, groups, opts); err != nil {
		t.Fatal(err)
	}
	cells, err := db.Read(ctx, m.Row, store.Selector{Group: "g", Column: []byte("c")})
	if err != nil || len(cells) != 1 {
		t.Errorf("read %v, %v", cells, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestUnlist: a table file that Badger has removed leaves the MANIFEST, and no other one does.
func TestUnlist(t *testing.T) {
	dir, groups, opts := t.TempDir(), []store.GroupSpec{{Name: "g"}}, Options{MinFreeBytes: -1}
	db, err := Open(dir, groups, opts)
	if err != nil {
		t.Fatal(err)
	}
	m := store.RowMutation{Row: []byte("r"), Mutations: []store.Mutation{{Group: "g", Column: []byte("c"), TS: 1, Value: []byte("v")}}}
	if _, err := db.Mutate(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := readManifest(dir)
	if err != nil || len(before.tables) == 0 {
		t.Fatalf("tables %v, %v", before, err)
	}
	add := func(id uint64) {
		t.Helper()
		set := &pb.ManifestChangeSet{Changes: []*pb.ManifestChange{{Id: id, Op: pb.ManifestChange_CREATE}}}
		if err := appendManifest(dir, set); err != nil {
			t.Fatal(err)
		}
	}
	add(998)
	if _, err := Open(dir, groups, opts); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("opened without a table file that is listed: %v", err)
	}
	failed := newFailedFlushes(dir)
	failed.note(syscall.EIO)
	add(999) // missing for another reason
	if err := failed.unlist(); err != nil {
		t.Fatal(err)
	}
	after, err := readManifest(dir)
	if err != nil || after.lists(998) || !after.lists(999) {
		t.Errorf("tables %v, %v", after.tables, err)
	}
	delete(after.tables, 999)
	if !maps.Equal(before.tables, after.tables) {
		t.Errorf("tables %v, before %v", after.tables, before.tables)
	}
}
