package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// scratch is a file for what does not fit into memory. It loses its name as soon as
// it is there, where the system can do that: nothing is left of it when the process
// is gone, however it goes.
type scratch struct {
	file *os.File
	out  *bufio.Writer
	size int64
}

func newScratch(dir string) (*scratch, error) {
	f, err := os.CreateTemp(dir, ".export-*")
	if err != nil {
		return nil, fmt.Errorf("export: a file for what does not fit into memory: %w", err)
	}
	_ = os.Remove(f.Name()) // where open files keep their names, close removes it
	return &scratch{file: f, out: bufio.NewWriterSize(f, buffered)}, nil
}

func (s *scratch) Write(b []byte) (int, error) {
	n, err := s.out.Write(b)
	s.size += int64(n)
	return n, err
}

// section reads from one place to another; what is there must have been flushed.
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
