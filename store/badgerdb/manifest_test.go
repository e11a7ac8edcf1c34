package badgerdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
	"github.com/webindexer/indexer/store/badgerdb/internal/manifest"
)

// The lengths in bytes of what Badger's list of tables begins with, and of what each of its records
// begins with.
const (
	listHeader = 8
	listRecord = 8
)

// TestManifestLengths flips each bit of the lengths in the list of tables. Badger
// mistakes those that make a record seem longer than the file for a crash.
func TestManifestLengths(t *testing.T) {
	image := imageOfTable(t)
	name := filepath.Join(dirfile.Badger, "MANIFEST")
	whole := image[name].used
	records := 0
	for at := listHeader; at+listRecord <= len(whole); records++ {
		length := int(binary.BigEndian.Uint32(whole[at:]))
		for bit := range 32 {
			damaged := bytes.Clone(whole)
			damaged[at+bit/8] ^= 1 << (bit % 8)
			if err := readImage(t, image, name, damaged); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "MANIFEST") {
				t.Errorf("bit %d of the length of the record at byte %d flipped: %v; want ErrCorrupt, with the file's name", bit, at, err)
			}
		}
		at += listRecord + length
	}
	if records == 0 {
		t.Error("no records: this tests nothing")
	}
}

// TestTornManifest: a list of tables that ends anywhere behind its first record is that
// of a crash.
func TestTornManifest(t *testing.T) {
	image := imageOfTable(t)
	whole := image[filepath.Join(dirfile.Badger, "MANIFEST")].used
	dir := t.TempDir()
	file := filepath.Join(dir, dirfile.Badger, "MANIFEST")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	first := listHeader + listRecord + int(binary.BigEndian.Uint32(whole[listHeader:]))
	if first >= len(whole) {
		t.Fatal("there is only one record: this tests nothing")
	}
	for length := first; length < len(whole); length++ {
		if err := os.WriteFile(file, whole[:length], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := manifest.Read(dir); err != nil {
			t.Errorf("cut to %d bytes of %d: %v", length, len(whole), err)
		}
	}
}
