package index

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/webindexer/indexer/index/cksumvfs"
)

// TestLogWithoutDatabase: a process killed while it removes an unfinished database leaves its log. SQLite
// would replay it into the next database of that name.
func TestLogWithoutDatabase(t *testing.T) {
	log := logOfNewDatabase(t)
	orphan := func(t *testing.T, dir string, number int) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, shardName(number)+unfinished+"-wal"), log, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("first", func(t *testing.T) {
		dir := t.TempDir()
		orphan(t, dir, 1)
		if err := openTestWriter(t, dir).Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("rebuild", func(t *testing.T) {
		dir := t.TempDir()
		w := openTestWriter(t, dir)
		orphan(t, dir, 2)
		next, err := OpenNext(t.Context(), dir, w.ID(), WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := next.Discard(); err != nil {
			t.Error(err)
		}
	})
	t.Run("later number", func(t *testing.T) {
		dir := t.TempDir()
		if err := openTestWriter(t, dir).Close(); err != nil {
			t.Fatal(err)
		}
		orphan(t, dir, 2)
		if err := openTestWriter(t, dir).Close(); err != nil {
			t.Fatal(err)
		}
		left, err := filepath.Glob(filepath.Join(dir, "*"+unfinished+"*"))
		if err != nil || slices.ContainsFunc(left, exists) {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

// logOfNewDatabase returns the log of a database whose tables have just been made.
func logOfNewDatabase(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), shardName(1)+unfinished)
	if err := os.WriteFile(path, cksumvfs.Empty(applicationID, FormatVersion), 0o666); err != nil {
		t.Fatal(err)
	}
	db, err := openDatabase(writerDSN(path, true))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), schemaSQL); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(path + "-wal")
	if err != nil || len(log) == 0 {
		t.Fatalf("the log has %d bytes: %v", len(log), err)
	}
	return log
}

// TestInstallNextToLog: a process killed while it sets files aside leaves their log under the name that the
// next files get. So does a user who removes only the database.
func TestInstallNextToLog(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, shardName(1)+"-wal"), logOfNewDatabase(t), 0o666); err != nil {
		t.Fatal(err)
	}
	next, err := OpenNext(t.Context(), dir, "", WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	id := next.ID()
	if err := next.Install(); err != nil {
		t.Fatal(err)
	}
	if w := openTestWriter(t, dir); w.ID() != id {
		t.Errorf("the files have the ID %s, not %s", w.ID(), id)
	}
}

// TestSetAsideAgain sets files aside after a process was killed while it did that.
func TestSetAsideAgain(t *testing.T) {
	from := filepath.Join(t.TempDir(), shardName(1))
	for name, content := range map[string]string{from: "database", from + "-wal": "log", from + ".aside-1-wal": "older log", from + ".aside-1-journal": "older journal"} {
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	path, err := SetAside(filepath.Dir(from))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{path: "database", path + "-wal": "log"} {
		if b, err := os.ReadFile(name); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	for _, name := range []string{from, from + "-wal", path + "-journal"} {
		if exists(name) {
			t.Errorf("%s is still there", name)
		}
	}
}

// TestReadAlone: a reader that shares no memory with writers, as on a full disk, has to be opened again once
// a writer has changed the file. Until then, it returns an error and not an old state.
func TestReadAlone(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	apply(t, w, generate(3, 1)...)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := openReader(t.Context(), dir, shardPath(dir), true)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, err := r.Count(t.Context()); n != 3 || err != nil || r.Replaced() {
		t.Errorf("%d documents, %v, replaced %t", n, err, r.Replaced())
	}
	w = openTestWriter(t, dir)
	for _, written := range []func() error{
		func() error { return w.Apply(t.Context(), generate(5, 2)) }, // to the log
		w.Close, // which is gone then
	} {
		if err := written(); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Count(t.Context()); !errors.Is(err, ErrBehind) || !r.Replaced() {
			t.Errorf("%v, replaced %t", err, r.Replaced())
		}
	}
	if n, err := openTestReader(t, dir).Count(t.Context()); n != 5 || err != nil {
		t.Errorf("opened again: %d documents, %v", n, err)
	}
}
