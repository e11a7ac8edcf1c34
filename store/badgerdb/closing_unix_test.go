//go:build unix

package badgerdb

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/tablefile"
)

const closingDir = "BADGERDB_TEST_CLOSING_DIR"

// inChild runs a test of this file in a process of its own, whose limits it may change and
// in which it may leave a Badger that cannot be closed. It says whether this is that process.
func inChild(t *testing.T) (dir string, child bool) {
	t.Helper()
	if dir := os.Getenv(closingDir); dir != "" {
		return dir, true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=15s")
	tmp := t.TempDir()
	cmd.Env = append(os.Environ(), closingDir+"="+filepath.Join(tmp, "table"), "TMPDIR="+tmp) // os.Exit leaves temporary files
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
	return "", false
}

// endChild ends a process of inChild that has passed. Badger's goroutines may be running: they cannot
// be stopped.
func endChild(t *testing.T) {
	t.Helper()
	if !t.Failed() {
		fmt.Println("PASS")
		os.Exit(0)
	}
}

// wantUnwritable checks that a table takes no writes a second later.
func wantUnwritable(t *testing.T, db *DB) {
	t.Helper()
	db.committer.space.looked = db.committer.space.looked.Add(-spaceCheckTime)
	m := store.RowMutation{Row: []byte("r"), Mutations: []store.Mutation{mutation("data", "c", 2, "v")}}
	if _, err := db.Mutate(t.Context(), m); !errors.Is(err, store.ErrNotDone) || !errors.Is(err, store.ErrUnwritable) {
		t.Errorf("Mutate: %v", err)
	}
}

// TestRemovedWhileOpen: a table whose directory is removed takes no more writes, and closing
// it is an error; it does not wait for ever.
func TestRemovedWhileOpen(t *testing.T) {
	dir, child := inChild(t)
	if !child {
		return
	}
	db := openTest(t, dir, Options{})
	for i := range 20 {
		mustMutate(t, db, fmt.Sprint("row", i), mutation("data", "c", 1, "v"))
	}
	err := os.RemoveAll(dir)
	for errors.Is(err, syscall.ENOTEMPTY) { // the table has just made a file there
		err = os.RemoveAll(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	wantUnwritable(t, db)
	if err := db.Close(); !errors.Is(err, store.ErrUnwritable) || !strings.Contains(err.Error(), "the directory and its contents were removed") {
		t.Errorf("Close: %v", err)
	}
	endChild(t)
}

// TestMovedWhileOpen: a table whose directory was moved changes nothing in the one that is in its place
// now. It takes no more writes, and the directory can be opened where it is.
func TestMovedWhileOpen(t *testing.T) {
	dir, child := inChild(t)
	if !child {
		return
	}
	small := Options{MemoryBytes: 1} // the logs are copied, with all their zeros
	db := openTest(t, dir, small)
	mustMutate(t, db, "row", mutation("data", "c", 1, "v"))
	db.verify.stop() // it replaces a file
	moved := dir + "-moved"
	if err := errors.Join(os.Rename(dir, moved), os.CopyFS(dir, os.DirFS(moved))); err != nil {
		t.Fatal(err)
	}
	before := namesIn(t, dir)
	wantUnwritable(t, db)
	if err := db.Reclaim(t.Context()); err == nil {
		t.Error("reclaimed")
	}
	if err := db.Close(); !errors.Is(err, store.ErrUnwritable) || !strings.Contains(err.Error(), "was moved") {
		t.Errorf("Close: %v", err)
	}
	if after := namesIn(t, dir); after != before {
		t.Errorf("files %s; before %s", after, before)
	}
	for _, dir := range []string{moved, dir} {
		db := openTest(t, copyOpen(t, dir), small)
		if got, want := readRow(t, db, "row"), "data:c@1=v"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		closeTest(t, db)
	}
	endChild(t)
}

// namesIn lists the files of a directory, with their times.
func namesIn(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintln(&b, path, info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCompactionWithoutFiles: a compaction that cannot make a file waits, and loses nothing.
// Badger alone would continue without its output.
func TestCompactionWithoutFiles(t *testing.T) {
	dir, child := inChild(t)
	if !child {
		return
	}
	db := openTest(t, dir, Options{})
	const rows = 200
	for i := range rows {
		mustMutate(t, db, fmt.Sprint("row", i), mutation("data", "c", 1, "v"))
		if i == rows/2 { // to the last level
			if err := db.Reclaim(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	closeTest(t, db) // to level 0
	db = openTest(t, dir, Options{})
	waiting := make(chan struct{}, 100)
	db.tables.probed = func(err error) {
		if err != nil {
			waiting <- struct{}{}
		}
	}
	restore := noMoreFiles(t)
	flat := make(chan error, 1)
	go func() { flat <- db.badger.Flatten(1) }()
	select {
	case <-waiting:
	case err := <-flat:
		t.Fatalf("compacted without a file: %v", err)
	}
	restore()
	if err := <-flat; err != nil {
		t.Error(err)
	}
	for i := range rows {
		if readRow(t, db, fmt.Sprint("row", i)) == "" {
			t.Fatalf("row %d is lost", i)
		}
	}
	closeTest(t, db)
}

// noMoreFiles lets this process open no file.
func noMoreFiles(t *testing.T) (restore func()) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
			t.Error(err)
		}
	}
}

// TestCompactionOfDamage checks that a compaction of a damaged table file that was not
// verified before changes nothing: the file stays, and closing fails with its name.
func TestCompactionOfDamage(t *testing.T) {
	dir, child := inChild(t)
	if !child {
		return
	}
	db := openTest(t, dir, Options{})
	for i := range 200 {
		mustMutate(t, db, fmt.Sprint("row", i), mutation("data", "c", 1, "v"))
	}
	closeTest(t, db)
	file := tableFiles(t, dir)[0]
	flipByte(t, file, 100)
	db, err := Open(dir, testGroups, Options{VerifyAtOnce: -1})
	if err == nil { // else it was the last block
		go func() { _ = db.badger.Flatten(1) }() // never returns
		<-db.tables.stuck
		err = db.Close()
	}
	wantNamed(t, err, filepath.Base(file))
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	endChild(t)
}

// TestReclaimOfDamage: reclaiming the space of a table with a damaged file that was not verified
// before is an error, and does not wait for ever as a compaction does.
func TestReclaimOfDamage(t *testing.T) {
	dir, child := inChild(t)
	if !child {
		return
	}
	for _, reclaim := range []func(*DB) error{
		func(db *DB) error { return db.Reclaim(t.Context()) },
		func(db *DB) error { return db.passBlobs(t.Context()) },
	} {
		db := openTest(t, dir, Options{})
		mustMutate(t, db, "row", mutation("data", "c", 1, "v"))
		db.verify.stop()
		const number = 999
		if err := os.WriteFile(tablefile.Path(dir, number), []byte("damage"), 0o600); err != nil {
			t.Fatal(err)
		}
		db.verify.tables = append(db.verify.tables, &unverified{id: number})
		db.verify.left.Add(1)
		wantNamed(t, reclaim(db), filepath.Base(tablefile.Path(dir, number)))
		if err := db.Close(); err == nil {
			t.Error("closed without an error")
		}
	}
}

// TestUnreadTable: if a table file that was not verified before is gone, or cannot be read, every
// call fails with an error that says so, and that no later call will succeed.
func TestUnreadTable(t *testing.T) {
	dir, child := inChild(t)
	if !child {
		return
	}
	const number = 999
	file := tablefile.Path(dir, number)
	for kind, lose := range map[error]func() (restore func()){
		store.ErrCorrupt: func() func() { return func() {} },
		store.ErrIO: func() func() {
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return noMoreFiles(t)
		},
	} {
		db := openTest(t, dir, Options{})
		db.verify.stop()
		db.verify.tables = append(db.verify.tables, &unverified{id: number})
		db.verify.left.Add(1)
		restore := lose()
		for range 2 {
			if err := db.verify.needs(nil); !errors.Is(err, kind) || !strings.Contains(err.Error(), filepath.Base(file)) {
				t.Errorf("want %v, got %v", kind, err)
			}
		}
		restore()
		if err := db.Close(); !errors.Is(err, kind) {
			t.Errorf("want %v, got %v", kind, err)
		}
	}
}

// TestFullMemtableWithoutFiles: a write for which Badger would have to make a log, while no file can
// be made, is refused. Badger would have no memtable any more, and the next reader would find none.
func TestFullMemtableWithoutFiles(t *testing.T) {
	dir, child := inChild(t)
	if !child {
		return
	}
	db := openTest(t, dir, Options{MemoryBytes: 1, MinFreeBytes: -1})
	m := store.RowMutation{Row: []byte("row"), Mutations: []store.Mutation{mutation("last", "c", 1, strings.Repeat("v", 100<<10))}}
	write := func() error {
		m.Mutations[0].TS++
		_, err := db.Mutate(t.Context(), m)
		return err
	}
	for !db.committer.fill.mayBeFull() {
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	restore := noMoreFiles(t)
	var err error
	for n := 0; err == nil && n < 10; n++ {
		err = write()
	}
	if !errors.Is(err, store.ErrIO) || !errors.Is(err, store.ErrNotDone) {
		t.Errorf("a write without a log: %v", err)
	}
	if got := readRow(t, db, "row"); got == "" {
		t.Error("the row is not there")
	}
	restore()
	if err := write(); err != nil {
		t.Error(err)
	}
	closeTest(t, db)
}

// TestUnmarkedClose: if it cannot be marked that the logs are about to be written out, closing the table
// leaves them, and what they hold is there when it is opened again.
func TestUnmarkedClose(t *testing.T) {
	dir, child := inChild(t)
	if !child {
		return
	}
	db := openTest(t, dir, Options{})
	mustMutate(t, db, "row", mutation("data", "c", 1, "v"))
	db.mark.broken = errors.New("broken")
	if err := db.Close(); !errors.Is(err, db.mark.broken) {
		t.Errorf("closed: %v", err)
	}
	db = openTest(t, copyOpen(t, dir), Options{})
	if got, want := readRow(t, db, "row"), "data:c@1=v"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	endChild(t) // the first Badger is still open
}

// TestFlushWithoutFiles: a flush of the table's own that cannot begin breaks nothing.
func TestFlushWithoutFiles(t *testing.T) {
	dir, child := inChild(t)
	if !child {
		return
	}
	db := openTest(t, dir, Options{MinFreeBytes: -1})
	mustMutate(t, db, "row", mutation("data", "c", 1, "v"))
	restore := noMoreFiles(t)
	if err := db.Reclaim(t.Context()); !errors.Is(err, store.ErrIO) {
		t.Errorf("reclaimed: %v", err)
	}
	restore()
	mustMutate(t, db, "row", mutation("data", "c", 2, "w"))
	if err := db.Reclaim(t.Context()); err != nil {
		t.Error(err)
	}
	closeTest(t, db)
}
