package sitemap

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/webindexer/indexer/page"
)

// maxBadLines is the number of lines without a URL after which a file without any URL
// is not taken for a list.
const maxBadLines = 20

// readText reads a list of URLs, one a line. They must be absolute: any other rule
// would make URLs of prose.
func (p *parser) readText(in *input) {
	bad := 0
	for number := 1; ; number++ {
		line, err := in.line()
		if line = trim(line); line != "" {
			ok, more := p.textLine(line, number)
			if !more {
				return
			}
			if !ok {
				bad++
			}
		}
		if bad == maxBadLines && p.out.Kind == UnknownKind {
			p.problems.add(number, 1, errors.New("this is not a list of URLs; reading stops here"))
			return
		}
		if errors.Is(err, io.EOF) {
			if bad == 0 && p.out.Kind == UnknownKind {
				p.problems.add(1, 1, errEmpty)
			}
			return
		}
		if err != nil {
			p.problems.add(number, 1, err)
			return
		}
	}
}

// textLine handles one line that is not empty.
func (p *parser) textLine(line string, number int) (ok, more bool) {
	err := errNotAbsolute
	var u page.URL
	if isAbsolute(line) {
		u, err = p.absolute.Resolve(line)
	}
	if err != nil {
		p.problems.add(number, 1, fmt.Errorf("%q: %w", abbreviate(line), err))
		return false, true
	}
	p.out.Kind = Text
	return true, p.add(Entry{URL: u}, number, 1)
}

// line reads up to a line end: CR, LF or CRLF. If a line is too long for a URL it keeps the
// beginning, which is then too long to be accepted. If the input fails, which may have cut a
// URL short, it returns "".
func (in *input) line() (string, error) {
	var text strings.Builder
	for {
		b, err := in.r.ReadByte()
		switch {
		case errors.Is(err, io.EOF), b == '\n':
			return text.String(), err
		case err != nil:
			return "", err
		case b == '\r':
			if next, _ := in.r.Peek(1); string(next) == "\n" {
				continue
			}
			return text.String(), nil
		case text.Len() <= page.MaxURLLength:
			text.WriteByte(b)
		}
	}
}
