package warc

import (
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// The Read of a stream returns one of these once at each break, and then continues with the
// data after it.
var (
	// errDamaged means that the member of the latest bytes is corrupt or cut off.
	errDamaged = errors.New("the compressed data is damaged here")
	// errGap means that the latest bytes are good, but the data after them is not a member and
	// was skipped.
	errGap = errors.New("there is junk here")
	// errMemberEnd means that the member ended properly, and the next one must not be opened
	// yet. Read returns this as long as hold is set.
	errMemberEnd = errors.New("a member ends here")
)

// stream is the uncompressed file: the contents of its members in order, with breaks where
// something is wrong.
type stream struct {
	src    *source
	report func(Problem)

	kind    memberKind // of the current member, kindNone between members
	cur     io.Reader
	member  int64 // offset of the current member in the file
	out     int64 // bytes returned so far
	began   int64 // bytes returned before the current member
	failed  int64 // began of the member that failed last
	mixed   bool  // damage was seen: a plain stretch may end at a compressed member
	zip     bool  // the file is a ZIP file with members in it
	gz      *gzip.Reader
	zstd    zstdFrames
	marks   []mark
	pending error
	hold    bool // do not open another member, because it may arrive much later
}

// mark says that the member at offset in of the file begins at offset out of the stream.
type mark struct {
	out, in int64
	plain   bool
}

// maxMarks bounds the marks kept ahead of the Reader. Beyond that, problems have the offset
// of an earlier member.
const maxMarks = 1 << 16

// Read returns data of one member, or io.EOF, errDamaged, errGap, errMemberEnd, or an error
// of the file.
func (s *stream) Read(p []byte) (int, error) {
	for s.pending == nil {
		if s.kind == kindNone {
			if s.hold {
				return 0, errMemberEnd
			}
			s.pending = s.open()
			continue
		}
		n, err := s.cur.Read(p)
		s.out += int64(n)
		if err != nil {
			s.pending = s.close(err)
		}
		if n > 0 {
			return n, nil
		}
	}
	err := s.pending
	s.pending = nil
	return 0, err
}

// open begins the member at the current position. It returns nil, errGap or an error that
// ends the reading.
func (s *stream) open() error {
	b, _ := s.src.br.Peek(5)
	if s.src.err != nil || len(b) == 0 {
		return s.endOfSource()
	}
	s.member, s.began = s.src.pos(), s.out
	s.kind = sniff(b)
	if s.member == 0 && s.kind == kindNone {
		s.kind = s.guess()
	}
	var err error
	switch s.kind {
	case kindGzip:
		err = s.openGzip()
	case kindZstd:
		s.cur, err = s.zstd.open(s.src.br)
	case kindSkippable:
		err = s.zstd.skip(s.src.br, s.member == 0)
		s.kind = kindNone
	case kindPlain:
		s.cur = s.src.br
		if s.member > 0 && !s.mixed {
			s.report(Problem{Offset: s.member, Inner: -1, Reason: "uncompressed records follow compressed ones: read anyway"})
			s.mixed = true
		}
		if s.mixed {
			s.cur = untilMember{s.src.br, &s.zstd}
		}
	default:
		return s.skipJunk()
	}
	if err != nil {
		return s.close(err)
	}
	s.addMark()
	return nil
}

// isPlain reports whether everything up to here was plain and undamaged.
func (s *stream) isPlain() bool { return !s.mixed && len(s.marks) == 1 && s.marks[0].plain }

// endPlain ends a plain stretch before the given bytes, which Read returned last and which begin
// like a compressed member.
func (s *stream) endPlain(ahead []byte) {
	s.src.unread(ahead)
	s.out -= int64(len(ahead))
	s.kind, s.pending, s.mixed = kindNone, nil, true
	s.report(Problem{Offset: s.src.pos(), Inner: -1, Reason: "compressed records follow uncompressed ones: read anyway"})
}

// guess decides what an unknown beginning of a file is: junk if a compressed member comes
// before any plain record, or if there is much of it, and otherwise a plain file, whatever it holds.
// A record may begin within a line, after one that was cut off.
func (s *stream) guess() memberKind {
	b, err := s.src.br.Peek(sourceBuffer)
	_, kind := nextMember(b)
	if kind == kindGzip || kind == kindZstd || kind == kindNone && err == nil && !hasVersionLine(b) {
		return kindNone
	}
	return kindPlain
}

func (s *stream) openGzip() error {
	if s.gz == nil {
		s.gz = new(gzip.Reader)
	}
	if err := s.gz.Reset(s.src.br); err != nil {
		return err
	}
	s.gz.Multistream(false)
	s.cur = s.gz
	return nil
}

// close ends the current member for a reason; io.EOF is its proper end.
func (s *stream) close(reason error) error {
	kind := s.kind
	s.kind = kindNone
	if s.src.err != nil {
		return s.endOfSource()
	}
	if errors.Is(reason, io.EOF) {
		return nil
	}
	s.mixed, s.failed = true, s.began
	s.resync(kind, reason)
	return errDamaged
}

// addMark records where the current member begins. Empty members leave no mark.
func (s *stream) addMark() {
	m := mark{out: s.out, in: s.member, plain: s.kind == kindPlain}
	if n := len(s.marks); n > 0 && s.marks[n-1].out == m.out {
		s.marks[n-1] = m
	} else if n < maxMarks {
		s.marks = append(s.marks, m)
	}
}

// at returns the place in the file of the byte at offset out of the stream: its member or,
// in a plain stretch, the byte itself, with inner -1. It drops earlier marks.
func (s *stream) at(out int64) (offset, inner int64) {
	for len(s.marks) > 1 && s.marks[1].out <= out {
		s.marks = s.marks[1:]
	}
	if len(s.marks) == 0 {
		return 0, out
	}
	m := s.marks[0]
	if m.plain {
		return m.in + out - m.out, -1
	}
	return m.in, out
}

// nextMark returns the offset in the stream of the first member after offset out, or -1 if
// none is known.
func (s *stream) nextMark(out int64) int64 {
	for _, m := range s.marks {
		if m.out > out {
			return m.out
		}
	}
	return -1
}
