//go:build unix

package export

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The umask, which follows the setting group_access, decides who may use a directory that is made.
func TestScratchDirectoryFollowsTheUmask(t *testing.T) {
	before := syscall.Umask(0)
	defer syscall.Umask(before)
	for umask, want := range map[int]os.FileMode{0o077: 0o700, 0o007: 0o770, 0: 0o770} {
		syscall.Umask(umask)
		dir := filepath.Join(t.TempDir(), "made")
		s, err := newScratch(dir)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != want {
			t.Errorf("umask %04o: %v, %v; want mode %04o", umask, info, err, want)
		}
		if err := errors.Join(s.close(), os.Remove(dir)); err != nil {
			t.Error(err)
		}
	}
}
