//go:build unix

package index

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestDenied: if this process may not use a file, the error says so and names the file, which SQLite does not.
func TestDenied(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	if err := openTestWriter(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // root is denied nothing
		const nobody = 65534
		for d := dir; d != os.TempDir(); d = filepath.Dir(d) {
			if err := os.Chmod(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"..", "", filepath.Base(shardPath(dir)), lockFile, "../index.mark"} {
			if err := os.Chown(filepath.Join(dir, name), nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Seteuid(nobody); err != nil {
			t.Skip(err)
		}
		defer syscall.Seteuid(0)
	}
	for _, c := range []struct {
		name   string
		mode   os.FileMode
		reader bool // it is denied to readers as well
	}{
		{filepath.Base(shardPath(dir)), 0, true},
		{lockFile, 0, false},
		{lockFile, 0o400, false}, // two processes could lock it
		{".", 0o500, false},
	} {
		path := filepath.Join(dir, c.name)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		_, err = OpenWriter(t.Context(), dir, WriterOptions{})
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), path+": permission denied") {
			t.Errorf("writer, %s with mode %o: %v", c.name, c.mode, err)
		}
		r, err := OpenReader(dir)
		if errors.Is(err, fs.ErrPermission) != c.reader {
			t.Errorf("reader, %s with mode %o: %v", c.name, c.mode, err)
		}
		if err == nil {
			err = r.Close()
		}
		if err := errors.Join(err, os.Chmod(path, info.Mode().Perm())); err != nil && !c.reader {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(shardPath(dir), 0o400); err != nil {
		t.Fatal(err)
	}
	w := openTestWriter(t, dir)
	if err := w.Apply(t.Context(), generate(1, 1)); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), shardPath(dir)) {
		t.Errorf("a change of files that may only be read: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
