package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// scratch is a temporary file. Where the system allows it, its name is removed at once, so
// that nothing remains however the process ends.
type scratch struct {
	file *os.File
	out  *bufio.Writer
	size int64
}

func newScratch(dir string) (*scratch, error) {
	f, err := os.CreateTemp(dir, ".export-*")
	if err != nil {
		return nil, fmt.Errorf("export: create a temporary file: %w", err)
	}
	_ = os.Remove(f.Name()) // fails on systems where open files keep their names; then close removes it
	return &scratch{file: f, out: bufio.NewWriterSize(f, buffered)}, nil
}

func (s *scratch) Write(b []byte) (int, error) {
	n, err := s.out.Write(b)
	s.size += int64(n)
	return n, err
}

// section reads the bytes between two offsets, which must have been flushed.
func (s *scratch) section(from, to int64) io.Reader {
	return io.NewSectionReader(s.file, from, to-from)
}

func (s *scratch) flush() error { return s.out.Flush() }

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
