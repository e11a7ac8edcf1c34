package index

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/cksumvfs"
)

// TestFiltersOfDamagedFile: whichever page of the file is damaged, Filters finds the sites, or says
// that the file is damaged and names it.
func TestFiltersOfDamagedFile(t *testing.T) {
	dir := t.TempDir()
	w, err := OpenWriter(t.Context(), dir, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, w, generate(100, 1)...)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := shardPath(dir)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	noticed := 0
	for at := cksumvfs.PageSize; at < len(whole); at += cksumvfs.PageSize {
		whole[at+100] ^= 1
		if err := os.WriteFile(path, whole, 0o666); err != nil {
			t.Fatal(err)
		}
		whole[at+100] ^= 1
		r, err := OpenReader(dir)
		if err != nil {
			continue // Open needs the page, and says so
		}
		if _, err := r.Filters(t.Context()); err != nil {
			noticed++
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), path) {
				t.Errorf("page %d: %v", at/cksumvfs.PageSize, err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if noticed == 0 {
		t.Error("Filters reads no page")
	}
	t.Logf("%d of %d pages", noticed, len(whole)/cksumvfs.PageSize)
}
