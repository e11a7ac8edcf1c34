package dirfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReplaceNamesTheFile: a failure names the file that was to be replaced, leaves it as it was,
// and reads the same when it happens again, so that a server that tries again logs it once.
func TestReplaceNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	if err := Replace(dir, "FILE", []byte("old")); err != nil {
		t.Fatal(err)
	}
	full := func(f *os.File) error {
		return &fs.PathError{Op: "write", Path: f.Name(), Err: errors.New("disk full")}
	}
	want := "replace " + filepath.Join(dir, "FILE") + ": disk full"
	for range 2 {
		if err := replaceAfter(dir, "FILE", []byte("new"), full); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	missing := filepath.Join(dir, "missing")
	if err := Replace(missing, "FILE", nil); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), TempSuffix) {
		t.Errorf("in a directory that does not exist: %v", err)
	}
	entries, err := os.ReadDir(dir)
	text, readErr := os.ReadFile(filepath.Join(dir, "FILE"))
	if err != nil || readErr != nil || len(entries) != 1 || string(text) != "old" {
		t.Errorf("%d files, of which FILE has %q (%v, %v)", len(entries), text, err, readErr)
	}
}
