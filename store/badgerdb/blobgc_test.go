package badgerdb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
)

// TestMoveLongKeys: values are moved in groups that Badger takes, however long their keys are.
func TestMoveLongKeys(t *testing.T) {
	db := openTest(t, t.TempDir(), Options{MemoryBytes: 1, BlobBytes: 8, MinFreeBytes: -1})
	defer closeTest(t, db)
	db.blobs.fileBytes = 1 << 10
	want := map[string]string{}
	for i := range 2 * movedKeys {
		row, value := fmt.Sprintf("%0*d", limits.MaxRowBytes, i), fmt.Sprintf("value%03d", i)
		mustMutate(t, db, row, mutation("data", "c", 1, value))
		want[row] = value
	}
	if err := db.collectBlobsOnce(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	compareValues(t, db, want)
}

// TestPassOutlivesReaders: files that a pass has emptied go when no reader of an older view is left,
// at the end of the pass or later.
func TestPassOutlivesReaders(t *testing.T) {
	for _, during := range []bool{true, false} {
		db := openTest(t, t.TempDir(), Options{BlobBytes: 8, MinFreeBytes: -1})
		defer closeTest(t, db)
		db.blobs.fileBytes = 1 << 10
		for i := range 2 * ctxEvery {
			mustMutate(t, db, fmt.Sprint("row", i), mutation("data", "c", 1, "a long value"))
		}
		older := db.Snapshot()
		for i := range ctxEvery {
			mustMutate(t, db, fmt.Sprint("row", i), store.Mutation{Op: store.DeleteUpTo, Group: "data", Column: []byte("c"), TS: 1})
		}
		before := db.blobs.total.Load()
		pass := func(ctx context.Context, wantLess bool) {
			t.Helper()
			db.blobs.waste.Store(leastWaste)
			if err := db.passBlobs(ctx); err != nil {
				t.Fatal(err)
			}
			if less := db.blobs.total.Load() < before; less != wantLess || db.blobs.waste.Load() == 0 {
				t.Errorf("%d bytes in blob files, %d before; %d are waste", db.blobs.total.Load(), before, db.blobs.waste.Load())
			}
		}
		if during {
			asked := 0
			pass(askedContext{t.Context(), func() {
				if asked++; asked == 4 { // at the beginning, and once in each of three scans
					older.Close()
				}
			}}, true)
			continue
		}
		pass(t.Context(), false)
		after := db.blobs.total.Load()
		if pass(t.Context(), false); db.blobs.total.Load() != after {
			t.Error("a pass was made although nothing could be removed")
		}
		older.Close()
		pass(t.Context(), true)
	}
}

// TestInterruptedPass: the waste that a pass did not collect before the table was closed is not
// forgotten.
func TestInterruptedPass(t *testing.T) {
	db := openTest(t, t.TempDir(), Options{BlobBytes: 8, MinFreeBytes: -1})
	defer closeTest(t, db)
	for i := range ctxEvery {
		mustMutate(t, db, fmt.Sprint("row", i), mutation("data", "c", 1, "a long value"))
	}
	const waste = 1000
	db.blobs.waste.Store(waste)
	ctx, stop := context.WithCancel(t.Context())
	if err := db.passBlobs(askedContext{ctx, stop}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := db.blobs.waste.Load(); got != waste {
		t.Errorf("%d bytes of waste, want %d", got, waste)
	}
}

// askedContext calls a function each time after it was asked whether it has ended.
type askedContext struct {
	context.Context
	asked func()
}

func (c askedContext) Err() error {
	defer c.asked()
	return c.Context.Err()
}

// TestEachPointerFails: an error of what is done with a pointer comes back as it is.
func TestEachPointerFails(t *testing.T) {
	db := openTest(t, t.TempDir(), Options{BlobBytes: 8, MinFreeBytes: -1})
	defer closeTest(t, db)
	mustMutate(t, db, "row", mutation("data", "c", 1, "a long value"))
	v := db.views.acquire()
	defer db.views.release(v)
	failure := errors.New("failure")
	if err := v.eachPointer(t.Context(), func([]byte, pointer) error { return failure }); err != failure {
		t.Error(err)
	}
}

// TestMovedOrDeleted: while values are moved, some are deleted and replaced. None comes back.
func TestMovedOrDeleted(t *testing.T) {
	db := openTest(t, t.TempDir(), Options{BlobBytes: 8, MinFreeBytes: -1})
	defer closeTest(t, db)
	db.blobs.fileBytes = 1 << 10
	rows := testenv.Size(100, 300, 5000)
	for i := range rows {
		mustMutate(t, db, fmt.Sprint("row", i), mutation("data", "c", 1, fmt.Sprint("the value of ", i)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	deleted := make(chan error, 1)
	go func() {
		defer cancel()
		order := rand.New(rand.NewPCG(1, 1)).Perm(rows)
		for _, i := range order[:rows/2] {
			m := store.Mutation{Op: store.Delete, Group: "data", Column: []byte("c"), TS: 1}
			if err := db.Apply(t.Context(), []store.RowMutation{{Row: fmt.Append(nil, "row", i), Mutations: []store.Mutation{m}}}); err != nil {
				deleted <- err
				return
			}
		}
		deleted <- nil
	}()
	for ctx.Err() == nil {
		db.reclaiming.Lock()
		if err := db.collectBlobsOnce(t.Context(), 0); err != nil {
			t.Error(err)
		}
		db.reclaiming.Unlock()
	}
	if err := <-deleted; err != nil {
		t.Fatal(err)
	}
	if err := db.Reclaim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := countCells(t.Context(), db); err != nil || n != rows-rows/2 {
		t.Errorf("%d cells, %v; want %d", n, err, rows-rows/2)
	}
	if err := db.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestWasteEstimate: the waste of removed cells is noticed without a pass, even in the
// next process, and a pass measures it.
func TestWasteEstimate(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	long := strings.Repeat("long", 1000)
	for ts := range uint64(30) {
		ops := []store.Mutation{mutation("data", "c", ts+1, long), mutation("data", "short", ts+1, "s")}
		if ts > 0 {
			for _, column := range []string{"c", "short"} {
				ops = append(ops, store.Mutation{Op: store.Delete, Group: "data", Column: []byte(column), TS: ts})
			}
		}
		mustMutate(t, db, "r", ops...)
	}
	closeTest(t, db)
	db = openTest(t, dir, Options{})
	defer func() { closeTest(t, db) }()
	if got, want := db.blobs.waste.Load(), int64(29*len(long)); got != want {
		t.Errorf("%d bytes are waste by the estimate, want %d", got, want)
	}
	db.blobs.waste.Store(0)
	if err := db.passBlobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := db.blobs.waste.Load(), int64(29*len(long)+len(blobHeader)); got != want {
		t.Errorf("a pass finds %d bytes of waste, want %d", got, want)
	}
}

// TestPassThatFindsNothing: if waste is spread evenly, so that no file has enough of it to be
// collected, the next pass waits until there is more.
func TestPassThatFindsNothing(t *testing.T) {
	db := openTest(t, t.TempDir(), Options{BlobBytes: 8, MinFreeBytes: -1})
	defer closeTest(t, db)
	db.stopCollecting() // the test makes the passes
	db.blobs.fileBytes, db.blobs.leastWaste = 1<<14, 1
	const rows = 3000
	for i := range rows {
		mustMutate(t, db, fmt.Sprint("row", i), mutation("data", "c", 1, strings.Repeat("v", 100)))
	}
	remove := func(from, to int) { // of each 25 rows
		for i := range rows {
			if n := i % 25; n >= from && n < to {
				mustMutate(t, db, fmt.Sprint("row", i), store.Mutation{Op: store.Delete, Group: "data", Column: []byte("c"), TS: 1})
			}
		}
	}
	for _, step := range []struct {
		from, to      int
		due, collects bool
	}{{0, 8, false, false}, {8, 9, true, false}, {9, 9, false, false}, {9, 11, true, true}} {
		remove(step.from, step.to)
		due := db.blobs.passDue()
		if due != step.due {
			t.Errorf("%d of 25 values are waste: a pass is due: %v", step.to, due)
		}
		if !due {
			continue
		}
		before := db.blobs.total.Load()
		if err := db.passBlobs(t.Context()); err != nil {
			t.Fatal(err)
		}
		if collected := db.blobs.total.Load() < before; collected != step.collects {
			t.Errorf("%d of 25 values are waste: a pass has collected: %v", step.to, collected)
		}
	}
}
