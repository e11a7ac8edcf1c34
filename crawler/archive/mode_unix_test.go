//go:build unix

package archive

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestReadable: whoever may read the directory may read the archive and its index, and nobody
// else.
func TestReadable(t *testing.T) {
	for _, mode := range []fs.FileMode{0o755, 0o750, 0o700} {
		dir := filepath.Join(t.TempDir(), "archive")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode); err != nil { // whatever the umask is
			t.Fatal(err)
		}
		rec, _ := recordGone(t, dir)
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		files, err := os.ReadDir(dir)
		if err != nil || len(files) != 2 {
			t.Fatalf("files %v, %v: want an archive and its index", files, err)
		}
		for _, f := range files {
			info, err := f.Info()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := info.Mode().Perm(), mode&0o644; got != want {
				t.Errorf("%s in a directory of mode %v has %v, want %v", f.Name(), mode, got, want)
			}
		}
	}
}
