package index

import (
	"errors"
	"os"
	"syscall"
	"testing"
)

// TestTooManyOpenFiles: if few more files can be opened, the error says so, whichever file
// SQLite could not open.
func TestTooManyOpenFiles(t *testing.T) {
	dir := t.TempDir()
	w, err := OpenWriter(t.Context(), dir, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ofSQLite := 0
	for free := range 12 {
		err := withFreeFiles(t, free, func() error {
			w, err := OpenWriter(t.Context(), dir, WriterOptions{})
			if err != nil {
				return err
			}
			return w.Close()
		})
		if err != nil && !errors.Is(err, syscall.EMFILE) {
			t.Errorf("with %d more files: %v", free, err)
		}
		if sqliteCode(err) != 0 {
			ofSQLite++
		}
	}
	if ofSQLite == 0 {
		t.Error("SQLite opened all its files")
	}
}

// TestNoFileForTheDirectory: index files whose directory cannot be listed are not mistaken for
// missing files, although a rebuild has given them a name other than that of the first files.
func TestNoFileForTheDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := openTestWriter(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	next, err := OpenNext(t.Context(), dir, "", WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Install(); err != nil {
		t.Fatal(err)
	}
	if err := openTestWriter(t, dir).Close(); err != nil { // removes the first file
		t.Fatal(err)
	}
	err = withFreeFiles(t, 0, func() error { _, err := OpenReader(dir); return err })
	if !errors.Is(err, syscall.EMFILE) || errors.Is(err, ErrNoIndex) {
		t.Errorf("got %v", err)
	}
}

// withFreeFiles runs do while this process can open only n more files.
func withFreeFiles(t *testing.T, free int, do func() error) error {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	low := before
	low.Cur = 64
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	var taken []*os.File
	defer func() {
		for _, f := range taken {
			_ = f.Close() // nothing was written
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Fatal(err)
		}
	}()
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		taken = append(taken, f)
	}
	for range min(free, len(taken)) {
		_ = taken[len(taken)-1].Close() // nothing was written
		taken = taken[:len(taken)-1]
	}
	return do()
}
