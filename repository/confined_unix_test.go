//go:build unix

package repository_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/webindexer/indexer/internal/sites"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/txn"
)

// nobody is a user without rights. Root is denied nothing, so as root the child
// runs as this user.
const nobody = 65534

// openTempDir makes a directory that other users may use. (The directories above that of
// t.TempDir may be closed to them.)
func openTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "open")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// confine lets a child run without root's rights, from a copy of the test binary
// that it may read, in the directory where the data is.
func confine(t *testing.T, dir string) func(*exec.Cmd) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "child")
	if err := os.WriteFile(file, program, 0o755); err != nil {
		t.Fatal(err)
	}
	return func(cmd *exec.Cmd) {
		cmd.Path, cmd.Dir = file, dir
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
	}
}

// give hands a tree to the user that the child runs as, or back.
func give(t *testing.T, dir string, uid int) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, uid, uid)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDenied takes rights away from parts of a data directory. Opening it, or
// loading something new, fails with an error that names the place. With the rights
// back, nothing is lost, and unfinished work is done.
func TestDenied(t *testing.T) {
	place := openTempDir(t)
	asNobody := confine(t, place)
	news := packed(t, place, "../testdata/sites/bakery.txt")
	fetches := versions(1)
	want := undisturbed(t, append(mustReadWeb(t, news), fetches...))
	for _, c := range []struct {
		name, what string // pattern below the data directory
		mode       os.FileMode
	}{
		{"data directory unreadable", "", 0},
		{"data directory not to be searched", "", 0o644},
		{"store unreadable", "store", 0},
		{"store stamp unreadable", "store/FORMAT", 0},
		{"badger unreadable", "store/badger", 0},
		{"badger read-only", "store/badger", 0o555},
		{"manifest unreadable", "store/badger/MANIFEST", 0},
		{"tables unreadable", "store/badger/*.sst", 0},
		{"value log unreadable", "store/badger/*.vlog", 0},
		{"value log read-only", "store/badger/*.vlog", 0o444},
		{"index unreadable", "index", 0},
		{"index read-only", "index", 0o555},
		{"index file unreadable", "index/*.sqlite", 0},
		{"index file read-only", "index/*.sqlite", 0o444},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(place, strings.ReplaceAll(c.name, " ", "-"))
			prepare(t, dir, fetches)
			give(t, dir, nobody)
			restore := chmod(t, filepath.Join(dir, c.what), c.mode)
			var stderr bytes.Buffer
			s := startChild(t, dir, news, txn.Auto, asNobody, func(cmd *exec.Cmd) { cmd.Stderr = &stderr }).listen(moment{})
			restore()
			if s.failed == "" || !strings.Contains(s.failed, dir) {
				t.Errorf("the child said %v, failed with %q, want an error that names %s; on stderr: %s", s.said, s.failed, dir, stderr.String())
			}
			if strings.Contains(stderr.String(), "goroutine ") {
				t.Errorf("panic: %s", stderr.String())
			}
			give(t, dir, 0)
			r := open(t, dir, repository.Options{})
			defer closeNow(t, r)
			load(t, r, 4, mustReadWeb(t, news))
			wantSound(t, r, want)
		})
	}
}

// prepare makes a closed repository in dir.
func prepare(t *testing.T, dir string, fetches []page.Fetch) {
	t.Helper()
	r := open(t, dir, repository.Options{})
	load(t, r, 1, fetches)
	closeNow(t, r)
}

// packed packs a site as a WARC file in dir, for a process that cannot read the
// project, and returns its path.
func packed(t *testing.T, dir, site string) string {
	t.Helper()
	s, err := sites.Load(site)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := sites.Pack(&out, s, sites.PackOptions{}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, s.Name+".warc.gz")
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// chmod changes what matches, and returns a function that undoes it.
func chmod(t *testing.T, pattern string, mode os.FileMode) (undo func()) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing matches %s: %v", pattern, err)
	}
	before := make(map[string]os.FileMode)
	for _, f := range files {
		info, err := os.Stat(f)
		if err == nil {
			before[f], err = info.Mode(), os.Chmod(f, mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		for f, m := range before {
			if err := os.Chmod(f, m); err != nil {
				t.Error(err)
			}
		}
	}
}
