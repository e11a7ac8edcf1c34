package warc

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// openSuffix marks a file that is still being written, by common convention.
const openSuffix = ".open"

// File is a Writer to a file that gets its name only when it is complete; until Close, its
// name is NAME.open.
type File struct {
	*Writer
	path string
	f    *os.File
	buf  *bufio.Writer
}

// Create starts a file. It replaces a NAME.open that an earlier run left behind, even if that
// is a symbolic link, and fails if NAME exists.
func Create(path string) (*File, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("create WARC file %s: %w", path, os.ErrExist)
	}
	if err := os.Remove(path + openSuffix); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("create WARC file: %w", err)
	}
	f, err := os.OpenFile(path+openSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("create WARC file: %w", err)
	}
	if err := LikeDirectory(f); err != nil {
		return nil, errors.Join(fmt.Errorf("create WARC file: %w", err), f.Close())
	}
	buf := bufio.NewWriterSize(f, 64<<10)
	return &File{Writer: NewWriter(buf), path: path, f: f, buf: buf}, nil
}

// LikeDirectory gives a file of an archive the read permissions of its directory: an archive
// may be meant for other users, even though the process keeps all its other files private.
func LikeDirectory(f *os.File) error {
	info, err := os.Stat(filepath.Dir(f.Name()))
	if err != nil {
		return err
	}
	return f.Chmod(info.Mode().Perm() & 0o644)
}

// Close syncs the file, then gives it its name. If that or an earlier Write failed, the
// file stays NAME.open and Close returns the error.
func (w *File) Close() error {
	err := w.err
	if err == nil {
		err = w.buf.Flush()
	}
	if err == nil {
		err = w.f.Sync()
	}
	err = errors.Join(err, w.f.Close())
	if err == nil {
		err = os.Rename(w.path+openSuffix, w.path)
	}
	if err != nil {
		return fmt.Errorf("close WARC file %s: %w", w.path, err)
	}
	return nil
}

// Leave closes the file and leaves it NAME.open.
func (w *File) Leave() error {
	if err := errors.Join(w.Flush(), w.f.Close()); err != nil {
		return fmt.Errorf("close WARC file %s: %w", w.path, err)
	}
	return nil
}

// Flush passes everything written so far to the operating system. In NAME.open, it survives
// if the process is killed.
func (w *File) Flush() error {
	if w.err != nil {
		return w.err
	}
	if err := w.buf.Flush(); err != nil {
		w.err = fmt.Errorf("write WARC file %s: %w", w.path, err)
	}
	return w.err
}
