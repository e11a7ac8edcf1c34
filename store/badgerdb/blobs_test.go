package badgerdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
)

// TestBlobs compares a table whose values are mostly in blob files with a map, through
// writes, deletes, passes that collect waste, restarts, and reads of old snapshots.
func TestBlobs(t *testing.T) {
	rng := testenv.Random(t)
	dir := t.TempDir()
	opts := Options{BlobBytes: 8, MinFreeBytes: -1}
	db := openTest(t, dir, opts)
	db.blobs.fileBytes = 1 << 10
	defer func() { closeTest(t, db) }()
	want := map[string]string{}
	type past struct {
		snapshot store.Snapshot
		want     map[string]string
	}
	var snapshots []past
	forget := func() {
		for _, p := range snapshots {
			compareValues(t, p.snapshot, p.want)
			p.snapshot.Close()
		}
		snapshots = nil
	}
	for step := range testenv.Size(150, 400, 20_000) {
		row := fmt.Sprint("row", rng.IntN(20))
		switch n := rng.IntN(100); {
		case n < 70:
			value := strings.Repeat(fmt.Sprint(step, "."), 1+rng.IntN(30))
			ops := []store.Mutation{{Op: store.DeleteUpTo, Group: "data", Column: []byte("c"), TS: uint64(step)}, mutation("data", "c", uint64(step+1), value)}
			mustMutate(t, db, row, ops...)
			want[row] = value
		case n < 80:
			mustMutate(t, db, row, store.Mutation{Op: store.DeleteUpTo, Group: "data", Column: []byte("c"), TS: uint64(step + 1)})
			delete(want, row)
		case n < 85 && len(snapshots) < 3:
			snapshots = append(snapshots, past{db.Snapshot(), maps.Clone(want)})
		case n < 88:
			forget()
		case n < 97:
			db.reclaiming.Lock()
			err := db.collectBlobsOnce(t.Context(), rng.Float64())
			db.reclaiming.Unlock()
			if err != nil {
				t.Fatal(err)
			}
		case n < 99:
			forget()
			closeTest(t, db)
			db = openTest(t, dir, opts)
			db.blobs.fileBytes = 1 << 10
		default:
			compareValues(t, db, want)
		}
	}
	forget()
	compareValues(t, db, want)
	if err := db.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	// Without readers and waste, only live values are left, and the newest file.
	if err := db.collectBlobsOnce(t.Context(), 0.01); err != nil {
		t.Fatal(err)
	}
	live := 0
	for _, value := range want {
		live += len(value)
	}
	files := len(db.blobs.all())
	if most := int64(live + (files+1)*len(blobHeader) + leastCollected); db.blobs.total.Load() > most {
		t.Errorf("%d bytes in %d files, %d are live", db.blobs.total.Load(), files, live)
	}
}

func compareValues(t *testing.T, r store.Reader, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	_, err := r.Scan(t.Context(), store.Range{Group: "data"}, func(c store.Cell) error {
		got[string(c.Row)] = string(c.Value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for row := range got {
		if got[row] != want[row] {
			t.Fatalf("row %s has %.40q, want %.40q", row, got[row], want[row])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for row, value := range want {
		cells, err := r.Read(t.Context(), []byte(row), store.Selector{Group: "data", Column: []byte("c"), Newest: 1})
		if err != nil || len(cells) != 1 || string(cells[0].Value) != value {
			t.Fatalf("row %s: %d cells, %v", row, len(cells), err)
		}
	}
}

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

// TestNoLateSyncs checks the bound on how full a memtable is (memtableFill): values are on
// the disk before the memtable with their pointers is full, and commits do not sync much
// more often than that.
func TestNoLateSyncs(t *testing.T) {
	rng := testenv.Random(t)
	for _, small := range []int{0, 5, 300} { // small cells with each long value
		t.Run(fmt.Sprint(small), func(t *testing.T) {
			db := openTest(t, t.TempDir(), Options{MemoryBytes: 1, BlobBytes: 64, MinFreeBytes: -1})
			defer closeTest(t, db)
			full, commits := 0, 0
			enough := uint64(testenv.Size(1, 2, 20))
			for row := 0; db.flushes.Load() < enough; {
				var rows []store.RowMutation
				for range 1 + rng.IntN(400/(small+1)+1) {
					m := store.RowMutation{Row: fmt.Appendf(nil, "%d/%s", row, strings.Repeat("x", rng.IntN(1000)))}
					m.Mutations = append(m.Mutations, mutation("data", "long", 1, strings.Repeat("v", 64+rng.IntN(20))))
					for i := range small {
						m.Mutations = append(m.Mutations, mutation("last", fmt.Sprint(i), 1, strings.Repeat("s", rng.IntN(60))))
					}
					rows = append(rows, m)
					row++
				}
				if db.committer.fill.mayBeFull() {
					full++
				}
				commits++
				if err := db.Apply(t.Context(), rows); err != nil {
					t.Fatal(err)
				}
			}
			if n := db.Stats().LateSyncs; n > 0 {
				t.Errorf("%d memtables were full before that was expected", n)
			}
			t.Logf("%d commits, %d memtables, %d commits when one might be full", commits, enough, full)
			if full > commits/20+10*int(enough) {
				t.Errorf("of %d commits, %d take the memtable for full", commits, full)
			}
		})
	}
}

// TestLostValues: a lost machine may leave a log that points to values which never reached
// the disk. The table opens with what came before the first of them. With SyncWrites, or if
// the machine was not lost, it is damage, and the error names the file.
func TestLostValues(t *testing.T) {
	files, _ := killed(t)
	blob := filepath.Join(blobsDir, "000001.blob")
	used := files[blob].used
	lost := files.reboot(t)
	for _, cut := range []int{1, len(used) / 3, len(used) - len(blobHeader), len(used)} {
		short := imageFile{used: used[:len(used)-cut], size: int64(len(used) - cut)}
		core, logs := observer.New(zap.WarnLevel)
		dir := t.TempDir()
		lost.with(blob, short).write(t, dir, "", nil)
		db, err := Open(dir, testGroups, Options{Logger: zap.New(core).Sugar()})
		if err != nil {
			t.Fatalf("%d bytes cut off: %v", cut, err)
		}
		// What was in tables is on the disk, and damaged if it is missing. What was in the
		// log is there up to some group.
		gone := false
		for i := flippedRows / 2; i < flippedRows; i++ {
			cells, err := db.Read(t.Context(), fmt.Append(nil, "row", i), store.Selector{Group: flippedGroup(i), Prefix: true})
			switch {
			case err != nil:
				t.Fatalf("%d bytes cut off, row %d: %v", cut, i, err)
			case len(cells) == 0:
				gone = true
			case gone:
				t.Fatalf("%d bytes cut off: row %d is there, and one before it is not", cut, i)
			case string(cells[0].Value) != flippedValue(i):
				t.Fatalf("%d bytes cut off: row %d has another value", cut, i)
			}
		}
		if told := logs.FilterMessageSnippet("the machine was lost").Len() > 0; !gone || !told {
			t.Errorf("%d bytes cut off: rows are gone: %v, %v", cut, gone, logs.All())
		}
		mustMutate(t, db, "new", mutation("data", "c", 1, strings.Repeat("new", 1000)))
		closeTest(t, db)
		db = openTest(t, dir, Options{})
		if got := readRow(t, db, "new"); !strings.HasPrefix(got, "data:c@1=newnew") {
			t.Errorf("a row that was written after %d bytes were cut off: %q", cut, got)
		}
		closeTest(t, db)
		same := files.with(blob, short)
		wantNamed(t, readImage(t, same, "", nil), blob)
	}
}

// TestBlobsBeingMade: an unfinished file without values is harmless.
func TestBlobsBeingMade(t *testing.T) {
	dir := t.TempDir()
	closeTest(t, openTest(t, dir, Options{}))
	if err := os.MkdirAll(filepath.Join(dir, blobsDir), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"", blobHeader[:5], strings.Repeat("\x00", len(blobHeader))} {
		if err := os.WriteFile(filepath.Join(dir, blobsDir, fmt.Sprintf("%06d.blob", i+1)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db := openTest(t, dir, Options{})
	defer closeTest(t, db)
	mustMutate(t, db, "r", mutation("data", "c", 1, strings.Repeat("long", 1000)))
	if got := readRow(t, db, "r"); got != "data:c@1=longlonglonglonglong" {
		t.Errorf("the row has %q", got)
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

func FuzzPointer(f *testing.F) {
	f.Add(pointer{1, 2, 3, 4}.append(nil))
	f.Add([]byte{blobPointer})
	f.Fuzz(func(t *testing.T, stored []byte) {
		p, ok := parsePointer(stored)
		if ok && !bytes.Equal(p.append(nil), stored) {
			t.Errorf("%x is read as %v", stored, p)
		}
		if ok != (len(stored) == pointerBytes && slices.Equal(stored[:1], []byte{blobPointer})) {
			t.Errorf("%x: %v", stored, ok)
		}
	})
}
