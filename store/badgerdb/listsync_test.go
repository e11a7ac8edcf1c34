package badgerdb

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"syscall"
	"testing"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/manifest"
	"github.com/webindexer/indexer/store/badgerdb/internal/tablefile"
)

// guardOf is the guard of an open table's list.
func guardOf(t *testing.T, dir string) *listGuard {
	t.Helper()
	g, ok := listGuards.Load(badgerDir(dir))
	if !ok {
		t.Fatal("the list has no guard")
	}
	return g.(*listGuard)
}

// rewriteNext makes Badger rewrite its list at the next change, as it does after 10,000 deletions.
func rewriteNext(db *DB) {
	list := reflect.ValueOf(db.badger).Elem().FieldByName("manifest").Elem()
	deletions := list.FieldByName("manifest").FieldByName("Deletions")
	*(*int)(deletions.Addr().UnsafePointer()) = 1 << 20
}

// failure makes the next compaction fail, until it is restored.
type failure func(t *testing.T, dir string, db *DB) (restore func())

func fileInTheWay(t *testing.T, dir string, _ *DB) func() {
	list, err := manifest.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	file := tablefile.Path(dir, slices.Max(slices.Collect(maps.Keys(list.Tables)))+1)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(file); err != nil {
			t.Error(err)
		}
	}
}

func noSync(t *testing.T, dir string, _ *DB) func() {
	g := guardOf(t, dir)
	g.fsync = func(*os.File) error { return syscall.EIO }
	return func() { g.fsync = (*os.File).Sync }
}

func rewriting(fail failure) failure {
	return func(t *testing.T, dir string, db *DB) func() {
		rewriteNext(db)
		return fail(t, dir, db)
	}
}

// TestFailedCompaction: a compaction that cannot write a table file, or that cannot be listed, loses nothing. The
// table takes no more writes. Badger alone would continue without the file, or the directory could not be
// opened again.
func TestFailedCompaction(t *testing.T) {
	for name, fail := range map[string]failure{
		"a file is in the way":                   fileInTheWay,
		"the list cannot be synced":              noSync,
		"a file is in the way of a new list":     rewriting(fileInTheWay),
		"the new list cannot be synced any more": rewriting(noSync),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			const rows = 200
			db := openTest(t, dir, Options{})
			for i := range rows {
				mustMutate(t, db, fmt.Sprint("row", i), mutation("data", "c", 1, "v"))
				if i == rows/2 { // to the last level, in a list that does not begin with an empty record
					rewriteNext(db)
					if err := db.Reclaim(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			closeTest(t, db) // to level 0
			db = openTest(t, dir, Options{})
			before, err := manifest.Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			restore := fail(t, dir, db)
			if err := db.badger.Flatten(flattenWorkers); err == nil {
				t.Error("compacted")
			}
			restore()
			if after, err := manifest.Read(dir); err != nil || !maps.Equal(after.Tables, before.Tables) || !maps.Equal(after.Levels, before.Levels) {
				t.Errorf("the list has %v, %v; it had %v", after, err, before)
			}
			m := store.RowMutation{Row: []byte("row"), Mutations: []store.Mutation{mutation("data", "c", 2, "w")}}
			if _, err := db.Mutate(t.Context(), m); !errors.Is(err, store.ErrBroken) || !errors.Is(err, store.ErrNotDone) {
				t.Errorf("a write after that: %v", err)
			}
			killed := copyOpen(t, dir)
			closeTest(t, db)
			for _, dir := range []string{killed, dir} {
				db := openTest(t, dir, Options{})
				for i := range rows {
					if readRow(t, db, fmt.Sprint("row", i)) == "" {
						t.Fatalf("row %d is lost", i)
					}
				}
				if err := db.Reclaim(t.Context()); err != nil {
					t.Error(err)
				}
				closeTest(t, db)
			}
		})
	}
}

// TestFailedFirstFlush: if the first change of the list cannot be synced, the list stays empty, and what was
// written is still in the log.
func TestFailedFirstFlush(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	mustMutate(t, db, "row", mutation("data", "c", 1, "v"))
	g := guardOf(t, dir)
	g.fsync = func(*os.File) error { return syscall.EIO }
	if err := db.Reclaim(t.Context()); !errors.Is(err, store.ErrBroken) || !errors.Is(err, store.ErrIO) {
		t.Errorf("reclaimed: %v", err)
	}
	g.fsync = (*os.File).Sync
	if list, err := manifest.Read(dir); err != nil || list.Bytes() != manifest.New().Bytes() {
		t.Errorf("the list has %v, %v", list, err)
	}
	killed := copyOpen(t, dir)
	closeTest(t, db)
	wantReopened(t, killed, dir)
}

// TestTornRecord: after a write to the list that stopped in the middle of a record, the next record is not written
// behind that part, where nothing would read it.
func TestTornRecord(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	mustMutate(t, db, "row", mutation("data", "c", 1, "v"))
	g := guardOf(t, dir)
	g.fsync = func(f *os.File) error {
		g.fsync = (*os.File).Sync
		_, err := f.Write([]byte{0, 0, 1, 0}) // of the length of a long record
		return errors.Join(err, f.Sync())
	}
	for range 2 {
		if err := db.Reclaim(t.Context()); err != nil && !errors.Is(err, store.ErrBroken) {
			t.Error(err)
		}
	}
	if db.failed.err() == nil {
		t.Error("it was not noticed")
	}
	list, err := manifest.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(manifest.File(dir)); err != nil || info.Size() != list.Bytes() {
		t.Errorf("the list has %d bytes of whole records, and the file %v, %v", list.Bytes(), info.Size(), err)
	}
	closeTest(t, db)
	wantReopened(t, dir)
}

// TestEqualCompactions: two compactions at the same time that make as many files and keys are told apart.
func TestEqualCompactions(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	defer closeTest(t, db)
	mustMutate(t, db, "row", mutation("data", "c", 1, "v"))
	if err := db.Reclaim(t.Context()); err != nil { // its last record is that of a compaction
		t.Fatal(err)
	}
	f, err := os.Open(manifest.File(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := manifest.Read(dir)
	if err != nil || len(list.Last.Removed) == 0 || len(list.Last.Added) != 1 {
		t.Fatalf("the last record is %+v, %v", list.Last, err)
	}
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	keys, err := tablefile.Keys(tablefile.Path(dir, list.Last.Added[0]))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 { // maps have no order
		g := &listGuard{dir: dir, made: make(map[int]newTables)}
		g.making(0, keys)
		g.making(1, keys)
		for compactor := range 2 {
			if err := g.check(f, list); err != nil {
				t.Fatalf("attempt %d, compactor %d: %v", i, compactor, err)
			}
			g.ended(compactor)
		}
	}
}

// TestRewrittenWhileDropping: if Badger writes the whole list anew for a compaction of DropPrefix, no record says what
// that compaction has made. It does not count as that of a later compaction with the same number.
func TestRewrittenWhileDropping(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	defer closeTest(t, db)
	mustMutate(t, db, "row", mutation("data", "c", 1, "v"))
	g := guardOf(t, dir)
	err := db.submit(t.Context(), &request{alone: func() error {
		g.making(0, 5) // in DropPrefix; other compactions have not begun
		return db.flush()
	}})
	if err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.made) > 0 {
		t.Errorf("it has %v", g.made)
	}
}
