package badgerdb

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
)

// tableImage is a table with its largest table file.
func tableImage(t *testing.T) (files image, name string) {
	t.Helper()
	files = imageOfTable(t)
	for file := range files {
		if filepath.Ext(file) == ".sst" && len(files[file].used) > len(files[name].used) {
			name = file
		}
	}
	if name == "" {
		t.Fatal("there is no table file")
	}
	return files, name
}

func wantNamed(t *testing.T, err error, file string) {
	t.Helper()
	if !errors.Is(err, store.ErrCorrupt) || !named(err, file, "") {
		t.Errorf("%v; want ErrCorrupt, with the name of %s", err, file)
	}
}

// TestTableEnds flips each bit of the end of a table file, where its lengths are. Badger
// panics over most of these.
func TestTableEnds(t *testing.T) {
	files, name := tableImage(t)
	whole := files[name].used
	for at := len(whole) - 20; at < len(whole); at++ {
		for bit := range 8 {
			damaged := bytes.Clone(whole)
			damaged[at] ^= 1 << bit
			wantNamed(t, readImage(t, files, name, damaged), name)
		}
	}
}

// TestCutTables cuts a table file to every length that its blocks, its index and its end
// suggest, and fills it with zeros from there.
func TestCutTables(t *testing.T) {
	files, name := tableImage(t)
	whole := files[name].used
	for _, length := range []int{0, 1, 3, 4, 7, 8, 20, 100, len(whole) / 2, len(whole) - 300, len(whole) - 20, len(whole) - 8, len(whole) - 4, len(whole) - 1} {
		for _, size := range []int64{int64(length), int64(len(whole))} {
			files[name] = imageFile{used: whole, size: size}
			wantNamed(t, readImage(t, files, name, whole[:length]), name)
		}
	}
}

// TestMissingFiles removes each file that a table cannot be without.
func TestMissingFiles(t *testing.T) {
	files, name := tableImage(t)
	for _, gone := range []string{name, filepath.Join(dirfile.Badger, "MANIFEST")} {
		rest := image{}
		for file, f := range files {
			if file != gone {
				rest[file] = f
			}
		}
		wantNamed(t, readImage(t, rest, "", nil), gone)
	}
}
