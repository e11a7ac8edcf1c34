package badgerdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/tablefile"
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
	if err := db.Reclaim(ctx); !errors.Is(err, store.ErrBroken) {
		t.Errorf("a flush of the table's own after that, which would wait for Badger's: %v", err)
	}
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

// TestFailedDrop: after Badger could not write the memtable in a flush of the table's own, the
// table takes no more writes. Another flush would make Badger read a memtable that it has released.
func TestFailedDrop(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	mustMutate(t, db, "row", mutation("data", "c", 1, "v"))
	if err := os.WriteFile(tablefile.Path(dir, 1), []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := db.Reclaim(t.Context()); !errors.Is(err, store.ErrBroken) {
		t.Errorf("the flush: %v", err)
	}
	if db.failed.err() == nil {
		t.Error("it is not noted")
	}
	if err := db.Reclaim(t.Context()); !errors.Is(err, store.ErrBroken) {
		t.Errorf("another one: %v", err)
	}
	m := store.RowMutation{Row: []byte("row"), Mutations: []store.Mutation{mutation("data", "c", 2, "w")}}
	if _, err := db.Mutate(t.Context(), m); !errors.Is(err, store.ErrBroken) || !errors.Is(err, store.ErrNotDone) {
		t.Errorf("a write after that: %v", err)
	}
	if got := readRow(t, db, "row"); got != "data:c@1=v" {
		t.Errorf("read %q", got)
	}
	closeTest(t, db)
	db = openTest(t, dir, Options{})
	if got := readRow(t, db, "row"); got != "data:c@1=v" {
		t.Errorf("read %q after opening it again", got)
	}
	closeTest(t, db)
}

// TestFailingFlush: a write that waits for room in memory gives up after Badger has failed several
// times to write a table file. Badger itself would let it wait for ever, and Close with it.
func TestFailingFlush(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := heldLogger{held: make(chan struct{})}
	db := openTest(t, dir, Options{MemoryBytes: 1, MinFreeBytes: -1, Logger: log})
	var inTheWay []string
	for id := range uint64(50) {
		inTheWay = append(inTheWay, tablefile.Path(dir, id))
		if err := os.WriteFile(inTheWay[id], nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	value := strings.Repeat("v", 100<<10)
	rows, failed := 0, make(chan error)
	go func() {
		for {
			m := store.RowMutation{Row: fmt.Append(nil, "row", rows), Mutations: []store.Mutation{mutation("last", "c", 1, value)}}
			if _, err := db.Mutate(t.Context(), m); err != nil {
				failed <- err
				return
			}
			rows++
		}
	}()
	for !waitsForRoom() {
		runtime.Gosched()
	}
	close(log.held)
	if err := <-failed; !errors.Is(err, store.ErrBroken) || errors.Is(err, store.ErrNotDone) {
		t.Errorf("the write that waited: %v", err)
	}
	for _, file := range inTheWay {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	closeTest(t, db)
	db = openTest(t, dir, Options{MinFreeBytes: -1})
	for i := range rows {
		if readRow(t, db, fmt.Sprint("row", i)) == "" {
			t.Errorf("row %d of %d is lost", i, rows)
		}
	}
	closeTest(t, db)
}

// heldLogger holds Badger where it reports an error, so that the first failure is not noted, and writes go
// on until memory is full.
type heldLogger struct {
	silent
	held chan struct{}
}

func (l heldLogger) Errorf(string, ...any) { <-l.held }

// waitsForRoom reports whether a goroutine of Badger waits until a memtable is written out.
func waitsForRoom() bool {
	stacks := make([]byte, 1<<20)
	for g := range bytes.SplitSeq(stacks[:runtime.Stack(stacks, true)], []byte("\n\n")) {
		if bytes.Contains(g, []byte("[sync.Cond.Wait")) && bytes.Contains(g, []byte("ensureRoomForWrite")) {
			return true
		}
	}
	return false
}
