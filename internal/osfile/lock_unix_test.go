//go:build unix

package osfile

import (
	"os"
	"path/filepath"
	"testing"
)

// TestLock takes a lock from several openings of a file, one after another.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if IsTaken(path) {
		t.Error("a file that does not exist is locked")
	}
	opened := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() }) // it may be closed
		return f
	}
	first, second := opened(), opened()
	for _, step := range []struct {
		name  string
		do    func() LockState
		want  LockState
		taken bool
	}{
		{"nobody", func() LockState { return Held }, Held, false},
		{"the first", func() LockState { return Lock(first) }, Held, true},
		{"the first again", func() LockState { return Lock(first) }, Held, true},
		{"the second beside it", func() LockState { return Lock(second) }, Taken, true},
		{"closed", func() LockState { _ = first.Close(); return Held }, Held, false},
		{"the second", func() LockState { return Lock(second) }, Held, true},
		{"both closed", func() LockState { _ = second.Close(); return Held }, Held, false},
	} {
		if got := step.do(); got != step.want {
			t.Errorf("%s: state %d, want %d", step.name, got, step.want)
		}
		if got := IsTaken(path); got != step.taken {
			t.Errorf("%s: taken is %t, want %t", step.name, got, step.taken)
		}
	}
}

// TestFindTarget follows all kinds of links to their file.
func TestFindTarget(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Mkdir(at("sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("sub/file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"absolute": at("sub/file"), "relative": "sub/file", "twice": "relative", "directory": "sub", "back": "sub/../sub/file",
		"dangling": "sub/new", "nowhere": "missing/new", "round": "and-round", "and-round": "round",
	} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		path, want string // want "" is an error
		exists     bool
	}{
		{"sub/file", "sub/file", true},
		{"new", "new", false},
		{"absolute", "sub/file", true},
		{"relative", "sub/file", true},
		{"twice", "sub/file", true},
		{"back", "sub/file", true},
		{"directory/file", "sub/file", true},
		{"directory", "sub", true},
		{"dangling", "sub/new", false},
		{"nowhere", "", false},
		{"round", "", false},
		{"missing/file", "", false},
		{"sub/", "", false},
	} {
		path := at(tt.path)
		if tt.path == "sub/" {
			path += "/"
		}
		got, err := findTarget(path)
		if tt.want == "" {
			if err == nil {
				t.Errorf("%s leads to %s, want an error", tt.path, got.path)
			}
			continue
		}
		if err != nil || got.path != at(tt.want) || (got.info != nil) != tt.exists || got.isDescriptor {
			t.Errorf("%s leads to %+v, want %s, %v", tt.path, got, tt.want, err)
		}
	}
}
