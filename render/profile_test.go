package render

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestKilledWhileRemoving: a process killed while it removes a profile leaves the lock file, and
// the next one removes the rest.
func TestKilledWhileRemoving(t *testing.T) {
	temp, err := os.MkdirTemp("/tmp", "") // not of t: its path would be too long
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(temp)
	t.Setenv("TMPDIR", temp)
	p, err := newProfile()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, "of the browser"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	killed := errors.New("killed")
	err = removeProfile(p.dir, func(path string) error {
		if filepath.Base(path) == profileLock || path == p.dir {
			return os.RemoveAll(path)
		}
		return killed
	})
	if !errors.Is(err, killed) {
		t.Fatalf("remove: %v", err)
	}
	_ = p.lock.Close() // nothing was written
	removeAbandoned()
	if _, err := os.Stat(p.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the profile is still there: %v", err)
	}
}
