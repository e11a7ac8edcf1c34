package badgerdb

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
)

// copyOpen copies a table that is open, as a killed process would leave it. It leaves out files that are
// being written under temporary names, which are gone a moment later.
func copyOpen(t *testing.T, dir string) (copied string) {
	t.Helper()
	copied = t.TempDir()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.Contains(d.Name(), dirfile.TempSuffix) {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if to := filepath.Join(copied, name); d.IsDir() {
			return os.MkdirAll(to, 0o700)
		} else if b, err := os.ReadFile(path); err != nil {
			return err
		} else {
			return os.WriteFile(to, b, 0o600)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return copied
}
