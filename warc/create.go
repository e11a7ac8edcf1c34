package warc

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// openSuffix marks a file that is still being written, as is the custom.
const openSuffix = ".open"

// File is a Writer to a file that has its name only when it is complete: until
// Close it is called NAME.open.
type File struct {
	*Writer
	path string
	f    *os.File
	buf  *bufio.Writer
}

// Create begins a file of that name. It replaces a NAME.open that an earlier run
// left, and fails if NAME itself exists.
func Create(path string) (*File, error) {
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("create WARC file %s: %w", path, os.ErrExist)
	}
	f, err := os.Create(path + openSuffix)
	if err != nil {
		return nil, fmt.Errorf("create WARC file: %w", err)
	}
	if err := likeDirectory(f, filepath.Dir(path)); err != nil {
		return nil, errors.Join(fmt.Errorf("create WARC file: %w", err), f.Close())
	}
	buf := bufio.NewWriterSize(f, 64<<10)
	return &File{Writer: NewWriter(buf), path: path, f: f, buf: buf}, nil
}

// likeDirectory lets those read a file who may read its directory: an archive may be
// for others though the process makes everything else for itself.
func likeDirectory(f *os.File, dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	return f.Chmod(info.Mode().Perm() & 0o644)
}

// Close makes the file durable, then gives it its name. If anything failed, now or
// in an earlier Write, the file stays NAME.open and Close says why.
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

// Flush hands what was written so far to the operating system: it survives a
// killed process, in NAME.open.
func (w *File) Flush() error {
	if w.err != nil {
		return w.err
	}
	if err := w.buf.Flush(); err != nil {
		w.err = fmt.Errorf("write WARC file %s: %w", w.path, err)
	}
	return w.err
}
