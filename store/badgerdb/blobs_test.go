package badgerdb

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
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

// TestEmptyBlobFile: the error of a value names its file and what has happened to that, in every
// process that reads it. Other values can be read, and new ones written.
func TestEmptyBlobFile(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	mustMutate(t, db, "old", mutation("data", "c", 1, strings.Repeat("old", 1000)))
	closeTest(t, db)
	name := filepath.Join(dir, blobsDir, "000001.blob")
	if err := os.Truncate(name, 0); err != nil {
		t.Fatal(err)
	}
	read := store.Selector{Group: "data", Column: []byte("c"), Newest: 1}
	for range 2 {
		db := openTest(t, dir, Options{})
		_, err := db.Read(t.Context(), []byte("old"), read)
		if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), name+": the blob file has been cut to 0 bytes") {
			t.Errorf("a value in an empty file: %v", err)
		}
		closeTest(t, db)
	}
	db = openTest(t, dir, Options{})
	defer closeTest(t, db)
	mustMutate(t, db, "new", mutation("data", "c", 1, strings.Repeat("new", 1000)))
	if got := readRow(t, db, "new"); !strings.HasPrefix(got, "data:c@1=newnew") {
		t.Errorf("the new row has %q", got)
	}
	if _, err := db.Read(t.Context(), []byte("old"), read); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("a value in a file that was made again: %v", err)
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
