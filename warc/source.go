package warc

import (
	"bufio"
	"errors"
	"io"
)

const sourceBuffer = 128 << 10

// source is the file as stored. It knows its position to the byte (decompressors
// take single bytes from br and never read ahead of what they use), and keeps an
// error of the file itself apart from what decompressors say of its contents.
type source struct {
	r      io.Reader
	seeker io.Seeker // nil where the source cannot go back
	start  int64     // position of the seeker that is offset 0
	br     *bufio.Reader
	read   int64 // bytes taken from r
	size   int64 // -1 if unknown
	err    error // first error of r other than io.EOF

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

// initSeeker finds out whether the seeker can seek (a pipe is an *os.File too).
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

// Read reads from the underlying file and counts.
func (s *source) Read(p []byte) (int, error) {
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

// pos is the offset of the next byte that br will give.
func (s *source) pos() int64 { return s.read - int64(s.br.Buffered()) }

// rewind goes back to an earlier offset, if the source can and may. What is read
// twice is limited to a multiple of what was read (and a free allowance), so that
// a file made of members that each claim the rest of the file cannot take
// quadratic time.
func (s *source) rewind(off int64) bool {
	back := s.read - off
	if s.seeker == nil || s.err != nil || back < 0 || back*5 > s.credit {
		return false
	}
	if _, err := s.seeker.Seek(s.start+off, io.SeekStart); err != nil {
		s.err = err
		return false
	}
	s.credit -= back * 5 // reading it again will add four of these
	s.read = off
	s.br.Reset(s)
	return true
}
