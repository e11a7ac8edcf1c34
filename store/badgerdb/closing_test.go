package badgerdb

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
	"github.com/webindexer/indexer/store/badgerdb/internal/memlog"
)

// TestKilledWhileClosing: after Reclaim has written out what was in memory, the newest log is empty. A
// process that is killed while it closes the table, before or after Badger has removed that log, leaves
// a table that opens.
func TestKilledWhileClosing(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	mustMutate(t, db, "row", mutation("data", "c", 1, "v"))
	if err := db.Reclaim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.mark.flushing(); err != nil { // the first step of closing Badger
		t.Fatal(err)
	}
	before, after := copyOpen(t, dir), copyOpen(t, dir)
	closeTest(t, db)
	if err := dirfile.RemoveMatching(filepath.Join(after, dirfile.Badger), "*"+memlog.Suffix); err != nil {
		t.Fatal(err)
	}
	wantReopened(t, before, after)
}

// TestKilledWhileClosingAfterFailure: a write that failed has made a log, which is empty. A process that is
// killed when Badger has written out the others leaves a table that opens.
func TestKilledWhileClosingAfterFailure(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	mustMutate(t, db, "row", mutation("data", "c", 1, "v"))
	_, newest := newestLog(t, dir)
	if err := os.WriteFile(memlog.Path(dir, newest+1), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db.verify.stop()
	if err := errors.Join(db.mark.flushing(), db.closeOrLeave()); err != nil {
		t.Fatal(err)
	}
	killed := copyOpen(t, dir)
	closeTest(t, db)
	wantReopened(t, killed, dir)
}

// TestLogNotRemoved: a log that Badger could not remove does not prevent the table from being opened.
func TestLogNotRemoved(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{})
	mustMutate(t, db, "row", mutation("data", "c", 1, "v"))
	file, _ := newestLog(t, dir)
	log, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Reclaim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, log, 0o600); err != nil {
		t.Fatal(err)
	}
	closeTest(t, db)
	wantReopened(t, dir)
}

// newestLog is the file of the newest log of an open table, and its number.
func newestLog(t *testing.T, dir string) (file string, number int) {
	t.Helper()
	n, err := newestFile(dir, memlog.Suffix)
	if err != nil {
		t.Fatal(err)
	}
	return memlog.Path(dir, int(n)), int(n)
}

// wantReopened opens tables, whose only cell must be as the test wrote it.
func wantReopened(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		db := openTest(t, dir, Options{})
		if got, want := readRow(t, db, "row"), "data:c@1=v"; got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
		closeTest(t, db)
	}
}
