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
	root, err := os.MkdirTemp("", "denied") // others may use that directory, unlike t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	dir := filepath.Join(root, "index")
	if err := openTestWriter(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // root is denied nothing
		const nobody = 65534
		for _, path := range []string{root, dir, shardPath(dir), filepath.Join(dir, lockFile), filepath.Join(root, "index.mark")} {
			if err := os.Chown(path, nobody, nobody); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Seteuid(nobody); err != nil {
			t.Skip(err)
		}
		defer syscall.Seteuid(0)
		if _, err := os.Stat(dir); err != nil {
			t.Skipf("another user may not use the directory for temporary files: %v", err)
		}
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
