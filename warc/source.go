package warc

import (
	"bufio"
	"errors"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// sourceBuffer holds the first block of a zstd frame, with its headers.
const sourceBuffer = 128<<10 + zstd.HeaderMaxSize

// source is the file as stored. It knows its exact position, because decompressors take
// single bytes from br and never read ahead. It keeps errors of the file itself apart from
// errors of decompressors in its contents.
type source struct {
	r      io.Reader
	seeker io.Seeker // nil if the source cannot go back
	start  int64     // position of the seeker that is offset 0
	br     *bufio.Reader
	back   []byte // to be read again before more of r
	read   int64  // bytes taken from r
	size   int64  // -1 if unknown
	err    error  // first error of r other than io.EOF

	credit int64 // bytes that may still be read a second time, see rewind
}

func newSource(r io.Reader) *source {
	s := &source{r: r, size: -1, credit: 64 << 20}
	s.br = bufio.NewReaderSize(s, sourceBuffer)
	if seeker, ok := r.(io.Seeker); ok {
		s.initSeeker(seeker)
	}
	return s
}

// initSeeker finds out whether the seeker can really seek: a pipe is an *os.File, too.
func (s *source) initSeeker(seeker io.Seeker) {
	start, err := seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return
	}
	end, err := seeker.Seek(0, io.SeekEnd)
	if err != nil {
		return
	}
	if _, err = seeker.Seek(start, io.SeekStart); err != nil {
		s.err = err
		return
	}
	if end >= start {
		s.seeker, s.start, s.size = seeker, start, end-start
	}
}

// Read reads from the underlying file and counts the bytes.
func (s *source) Read(p []byte) (int, error) {
	if len(s.back) > 0 {
		n := copy(p, s.back)
		s.back, s.read = s.back[n:], s.read+int64(n)
		return n, nil
	}
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.r.Read(p)
	s.read += int64(n)
	s.credit += 4 * int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// pos returns the offset of the next byte from br.
func (s *source) pos() int64 { return s.read - int64(s.br.Buffered()) }

// rewind goes back to an earlier offset, if the source can seek and has credit left. The
// amount of rereading is limited to a multiple of the bytes read plus an allowance, so that
// a file of members that each claim the rest of the file cannot take quadratic time.
func (s *source) rewind(off int64) bool {
	back := s.read - off
	if s.seeker == nil || s.err != nil || back < 0 || back*5 > s.credit {
		return false
	}
	if _, err := s.seeker.Seek(s.start+off, io.SeekStart); err != nil {
		s.err = err
		return false
	}
	s.credit -= back * 5 // reading these bytes again will add four times their number
	s.read, s.back = off, nil
	s.br.Reset(s)
	return true
}

// unread gives back the bytes that br returned last.
func (s *source) unread(b []byte) {
	buffered, _ := s.br.Peek(s.br.Buffered())
	s.back = slices.Concat(b, buffered, s.back)
	s.read -= int64(len(b) + len(buffered))
	s.br.Reset(s)
}
