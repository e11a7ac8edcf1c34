package warc

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
)

// lookahead is how much of a supposed member is needed to judge it.
const lookahead = 8 << 10

// resync moves to the next place where reading can continue after the current member
// failed. A corrupt deflate stream may have swallowed following members before the failure
// was detected. So if the source can seek, the search begins within the failed member, and
// otherwise where the failure was detected.
func (s *stream) resync(kind memberKind, reason error) {
	failedAt := s.src.pos()
	what := cmp.Or(map[memberKind]string{kindGzip: "gzip member", kindZstd: "zstd frame"}[kind], "member")
	why := reason.Error()
	if errors.Is(reason, io.ErrUnexpectedEOF) {
		why = "cut off by the end of the file"
	}
	if !s.src.rewind(s.member+1) && failedAt == s.member {
		s.discard(1) // or the scan finds the same member again
	}
	found := s.scan()
	next := fmt.Sprintf("went on at offset %d", s.src.pos())
	if !found {
		next = "nothing readable follows"
	}
	s.report(Problem{Offset: s.member, Inner: s.out,
		Reason: fmt.Sprintf("damaged %s (%s, noticed at offset %d): %s", what, why, failedAt, next)})
}

// skipJunk skips bytes between members that belong to none. Zeros up to the end of the
// file are padding and not a problem.
func (s *stream) skipJunk() error {
	from := s.src.pos()
	for {
		c, err := s.src.br.ReadByte()
		if err != nil {
			return s.endOfSource()
		}
		if c != 0 {
			break
		}
	}
	if err := s.src.br.UnreadByte(); err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	s.mixed = true
	zip := s.atZIP()
	begin, _ := s.src.br.Peek(5) // the scan meets an error again
	other := otherFormat(begin)
	found := s.scan()
	if s.src.err != nil {
		return s.endOfSource()
	}
	if from == 0 {
		s.zip = zip && found
	}
	if s.zip && zip {
		return errGap
	}
	reason := fmt.Sprintf("%d bytes that are no gzip member, zstd frame or record: skipped to the ", s.src.pos()-from)
	switch {
	case found:
		reason += "next member"
	case from == 0 && other != "":
		reason = other
	default:
		reason += "end of the file"
	}
	s.report(Problem{Offset: from, Inner: -1, Reason: reason})
	return errGap
}

// atZIP reports whether a part of a ZIP file comes next: the header of a file, what may follow its
// data, or the directory at the end. A WACZ file is a ZIP file with WARC files that are stored as
// they are. Its parts are not problems, unless it has no WARC file that can be read.
func (s *stream) atZIP() bool {
	begin, err := s.src.br.Peek(4) // the scan meets an error again
	if err != nil {
		return false
	}
	switch string(begin) {
	case "PK\x03\x04", "PK\x07\x08", "PK\x01\x02", "PK\x05\x06":
		return true
	}
	return false
}

// endOfSource returns the error of the file, or io.EOF if it just ends.
func (s *stream) endOfSource() error {
	if s.src.err != nil {
		return fmt.Errorf("reading: %w", s.src.err)
	}
	return io.EOF
}

// scan discards bytes up to the next member, or to the end of the file if none is found.
func (s *stream) scan() (found bool) {
	for {
		b, err := s.src.br.Peek(sourceBuffer)
		sure := len(b)
		if err == nil {
			sure -= lookahead // too little is visible yet of a member that begins later
		}
		if i, _ := nextMember(b); i >= 0 && i < sure {
			s.discard(i)
			return true
		}
		s.discard(sure)
		if err != nil {
			return false
		}
	}
}

// discard drops n buffered bytes, which cannot fail.
func (s *stream) discard(n int) {
	if _, err := s.src.br.Discard(n); err != nil {
		s.src.err = err
	}
}

// untilMember reads a plain stretch in a file that also has compressed members and damage. It ends
// where a member with a record begins. It returns the data that has arrived, and waits for more only
// if that data may be the beginning of a member.
type untilMember struct {
	br   *bufio.Reader
	zstd *zstdFrames
}

func (u untilMember) Read(p []byte) (int, error) {
	if _, err := u.br.Peek(1); err != nil {
		return 0, err
	}
	b, _ := u.br.Peek(u.br.Buffered())
	end := u.find(b)
	if end == 0 {
		if u.atRecord() {
			return 0, io.EOF
		}
		b, _ = u.br.Peek(1)
		end = 1
	}
	n := copy(p, b[:end])
	_, err := u.br.Discard(n)
	return n, err
}

// atRecord reports whether a member with a record comes next.
func (u untilMember) atRecord() bool {
	b, _ := u.br.Peek(len(zstdMagic))
	switch sniff(b) {
	case kindGzip:
		b, _ = u.br.Peek(lookahead)
		return beginsRecord(b)
	case kindZstd:
		return u.zstd.beginsRecord(u.br)
	}
	return false
}

// find returns the first place in b where a member may begin, or the length of b.
func (untilMember) find(b []byte) int {
	for i, c := range b {
		if c == 0x1f || c == zstdMagic[0] && strings.HasPrefix(zstdMagic, string(b[i:min(i+len(zstdMagic), len(b))])) {
			return i
		}
	}
	return len(b)
}
