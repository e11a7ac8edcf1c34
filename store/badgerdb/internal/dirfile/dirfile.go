// Package dirfile lists and replaces the files in the directory of a table.
package dirfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// Badger is the name of the subdirectory of a table that has Badger's files.
	Badger = "badger"
	// TempSuffix follows the name of a file that is being written, and is followed by a number.
	TempSuffix = ".tmp"
)

// likeDirectory gives a file the rights that others have in its directory.
func likeDirectory(f *os.File, dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	return f.Chmod(info.Mode().Perm() & 0o666)
}

// Replace writes a file under a temporary name, and renames it. Nothing waits for the disk.
func Replace(dir, name string, text []byte) error {
	return replaceAfter(dir, name, text, func(*os.File) error { return nil })
}

// ReplaceSynced is Replace, and returns when the file is on the disk under its name.
func ReplaceSynced(dir, name string, text []byte) error {
	if err := replaceAfter(dir, name, text, (*os.File).Sync); err != nil {
		return err
	}
	return SyncDir(dir)
}

// replaceAfter replaces a file once finish has been called for the new one. Errors name the file
// and not its temporary name, which is different each time.
func replaceAfter(dir, name string, text []byte, finish func(*os.File) error) error {
	f, err := os.CreateTemp(dir, name+TempSuffix+"*")
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

// RemoveTemps removes the temporary files that a killed process left. No other process
// may be replacing the file.
func RemoveTemps(dir, name string) error { return RemoveMatching(dir, name+TempSuffix+"*") }

// RemoveMatching removes the files of a directory whose names match a pattern.
func RemoveMatching(dir, pattern string) error {
	files, err := Matching(dir, pattern)
	for _, file := range files {
		if rerr := os.Remove(file); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("store: %w", rerr))
		}
	}
	return err
}

// Matching returns the paths of the files in a directory whose names match a pattern, in the
// order of their names; none if there is no directory. Unlike filepath.Glob, it takes the
// name of the directory literally: the user may have named it site[1].
func Matching(dir, pattern string) (files []string, err error) {
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

// SyncDir returns when the names of the files in a directory are on the disk.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("store: syncing %s: %w", dir, err)
	}
	return nil
}
