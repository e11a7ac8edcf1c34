package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// scratch is a temporary file. Where the system allows this, its name is removed at once,
// so that nothing remains however the process ends.
type scratch struct {
	file *os.File
	out  *bufio.Writer
	size int64
}

func newScratch(dir string) (*scratch, error) {
	// A process that has used only a shared store has not made the directory. The umask
	// follows the setting group_access, and decides whether the group may use the directory.
	if err := os.MkdirAll(dir, 0o770); err != nil {
		return nil, fmt.Errorf("export: make a directory for temporary files: %w", err)
	}
	f, err := os.CreateTemp(dir, ".export-*")
	if err != nil {
		return nil, fmt.Errorf("export: create a temporary file: %w", err)
	}
	_ = os.Remove(f.Name()) // fails on systems where open files keep their names; then close removes the file
	return &scratch{file: f, out: bufio.NewWriterSize(f, buffered)}, nil
}

// Write adds to the end of the file.
func (s *scratch) Write(b []byte) (int, error) {
	n, err := s.out.Write(b)
	s.size += int64(n)
	return n, writeError(err)
}

// flush makes everything written so far readable.
func (s *scratch) flush() error { return writeError(s.out.Flush()) }

func writeError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("export: write to a temporary file: %w", err)
}

// section reads the bytes between two offsets, which must have been flushed.
func (s *scratch) section(from, to int64) io.Reader {
	return io.NewSectionReader(s.file, from, to-from)
}

// read reads the bytes at an offset, which must have been flushed.
func (s *scratch) read(b []byte, from int64) error {
	_, err := s.file.ReadAt(b, from)
	return readError(err)
}

// readError says what failed. The end of the file is also an error: everything that is read
// was written before.
func readError(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("export: read a temporary file back: %w", err)
}

// close closes and removes the file, if there is one.
func (s *scratch) close() error {
	if s == nil {
		return nil
	}
	err := s.file.Close()
	if gone := os.Remove(s.file.Name()); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}
