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
	tempSuffix = ".tmp" // and a number
	stampTemp  = stampName + tempSuffix
	stampMagic = "indexer table on badger"
	formatNow  = 3
	// formatMarked is the first format with a high-water mark.
	formatMarked = 2
	badgerDir    = "badger"
	stampMaxLen  = 1 << 10
)

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
	if err := replaceSynced(dir, stampName, fmt.Sprintf("%s\nformat %d\n", stampMagic, formatNow)); err != nil {
		return fmt.Errorf("store: writing the format stamp: %w", err)
	}
	return nil
}

// likeDirectory gives a file the rights that others have in its directory.
func likeDirectory(f *os.File, dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	return f.Chmod(info.Mode().Perm() & 0o666)
}

// replace writes a file under a temporary name, and renames it. Nothing waits for the disk.
func replace(dir, name string, text []byte) error {
	return replaceAfter(dir, name, text, func(*os.File) error { return nil })
}

// replaceSynced is replace, and returns when the file is on the disk under its name.
func replaceSynced(dir, name, text string) error {
	if err := replaceAfter(dir, name, []byte(text), (*os.File).Sync); err != nil {
		return err
	}
	return syncDir(dir)
}

// replaceAfter replaces a file once finish has been called for the new one. Errors name the file
// and not its temporary name, which is another one each time.
func replaceAfter(dir, name string, text []byte, finish func(*os.File) error) error {
	f, err := os.CreateTemp(dir, name+tempSuffix+"*")
	if err != nil {
		return notReplaced(dir, name, err)
	}
	_, err = f.Write(text)
	err = errors.Join(err, likeDirectory(f, dir), finish(f), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return errors.Join(notReplaced(dir, name, err), os.Remove(f.Name()))
	}
	return nil
}

func notReplaced(dir, name string, err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	return fmt.Errorf("replace %s: %w", filepath.Join(dir, name), err)
}

// removeTemps removes the temporary files that a killed process left. No other process
// may be replacing the file.
func removeTemps(dir, name string) error { return removeMatching(dir, name+tempSuffix+"*") }

// removeMatching removes the files of a directory whose names match a pattern.
func removeMatching(dir, pattern string) error {
	files, err := filesLike(dir, pattern)
	for _, file := range files {
		err = errors.Join(err, ignoreGone(os.Remove(file)))
	}
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// filesLike returns the paths of the files in a directory whose names match a pattern, in the
// order of their names; none if there is no directory. Unlike filepath.Glob, it takes the
// directory as it is: the user may have named it site[1].
func filesLike(dir, pattern string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("store: %w", err)
	}
	for _, e := range entries {
		like, err := filepath.Match(pattern, e.Name())
		if err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		if like {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("store: syncing %s: %w", dir, err)
	}
	return nil
}
