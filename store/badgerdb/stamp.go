package badgerdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
)

// The directory of a table holds
//
//	FORMAT      a text file: the magic line, then "format N"
//	HIGHWATER   how far the table had come, see mark.go; since format 2
//	VERIFIED    which table files were verified, see verified.go; may be missing
//	KNOWN       which rows and columns there are, see known.go; may be missing
//	RESIDENT    cells of Resident groups, see residentfile.go; may be missing
//	badger/     Badger's files
//	blobs/      long values, see blobs.go; since format 3
//
// FORMAT is written before anything else, by rename, so a directory without one
// is either empty (and may become a table) or not ours (and is not touched). Two
// processes that are started together may both write it: each renames a file of its own,
// with the same text. Which of them gets the table is decided by Badger's lock.

const (
	stampName  = "FORMAT"
	stampTemp  = stampName + dirfile.TempSuffix
	stampMagic = "indexer table on badger"
	formatNow  = 3
	// formatMarked is the first format with a high-water mark.
	formatMarked = 2
	stampMaxLen  = 1 << 10
)

// badgerDir is the directory of Badger's files in that of a table.
func badgerDir(dir string) string { return filepath.Join(dir, dirfile.Badger) }

// checkStamp decides whether dir is a table that this version can open. It only
// reads; fresh means that dir is missing or empty.
func checkStamp(dir string) (fresh bool, err error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		if info, serr := os.Stat(dir); serr == nil && !info.IsDir() {
			return false, fmt.Errorf("%w: %s is a file, not a directory", store.ErrForeign, dir)
		}
		return false, fmt.Errorf("store: %w", err)
	}
	fresh = true
	for _, e := range entries {
		switch {
		case e.Name() == stampName:
			_, err := readStamp(dir)
			return false, err
		case strings.HasPrefix(e.Name(), stampTemp): // a crash before the rename left it
		default:
			fresh = false
		}
	}
	if !fresh {
		// Another process may have made it a table while we read the directory.
		if _, err := readStamp(dir); !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		return false, fmt.Errorf("%w: %s has files but no %s: use an empty directory", store.ErrForeign, dir, stampName)
	}
	return true, nil
}

// readStamp returns the number of the format of a table.
func readStamp(dir string) (format int, err error) {
	path := filepath.Join(dir, stampName)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("store: %w", err)
	}
	if len(text) > stampMaxLen {
		return 0, fmt.Errorf("%w: %s is not a table's", store.ErrForeign, path)
	}
	magic, rest, _ := strings.Cut(string(text), "\n")
	if magic != stampMagic {
		return 0, fmt.Errorf("%w: %s does not start with %q", store.ErrForeign, path, stampMagic)
	}
	line, _, _ := strings.Cut(rest, "\n")
	format, err = strconv.Atoi(strings.TrimPrefix(line, "format "))
	switch {
	case err != nil || format < 1:
		return 0, fmt.Errorf("%w: %s: second line %q, want \"format N\"", store.ErrCorrupt, path, line)
	case format > formatNow:
		return 0, fmt.Errorf("%w: %s says format %d, this program knows up to %d: use the program that wrote it or a later one", store.ErrNewerFormat, path, format, formatNow)
	}
	return format, nil
}

// writeStamp makes a directory a table's, or brings the number of its format up to date.
func writeStamp(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := dirfile.ReplaceSynced(dir, stampName, fmt.Appendf(nil, "%s\nformat %d\n", stampMagic, formatNow)); err != nil {
		return fmt.Errorf("store: writing the format stamp: %w", err)
	}
	return nil
}
