package seeds

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/encoding"
	utf "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// lines reads a text line by line, holding at most MaxLine of it.
type lines struct {
	r       *bufio.Reader
	text    string // without white space at both ends
	number  int
	tooLong bool  // text is the beginning of a line longer than MaxLine
	err     error // of the reader, except io.EOF
}

// newLines respects a byte order mark (Windows editors write UTF-16 with one). Without
// it the bytes stay as they are, so that invalid UTF-8 is noticed.
func newLines(r io.Reader) *lines {
	decoder := utf.BOMOverride(encoding.Nop.NewDecoder())
	return &lines{r: bufio.NewReaderSize(transform.NewReader(r, decoder), MaxLine+2)}
}

// next reads a line and reports whether there was one. A last line without line end
// counts, unless the reader failed: then it may have been cut short.
func (l *lines) next() bool {
	line, err := l.r.ReadSlice('\n')
	l.tooLong = errors.Is(err, bufio.ErrBufferFull)
	l.text = strings.TrimSpace(string(line))
	if l.tooLong {
		err = l.skip()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		l.err = err
		return false
	}
	if err != nil && len(line) == 0 {
		return false
	}
	l.number++
	return true
}

// skip discards the rest of a line.
func (l *lines) skip() error {
	for {
		_, err := l.r.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// withoutComment removes a comment: a # at the beginning or after white space. Any
// other # begins a fragment.
func withoutComment(line string) string {
	space := true
	for i, c := range line {
		if c == '#' && space {
			line = line[:i]
			break
		}
		space = unicode.IsSpace(c)
	}
	return strings.TrimSpace(line)
}

// LineError is a line that is not a seed.
type LineError struct {
	File    string // "" if there is no file
	Line    int    // from 1
	Text    string // the line without its comment
	Reason  string // completes a sentence that begins with Text
	Instead string // what to write, "" if not known
}

// Error returns a message like `seeds.txt:3: "http:/example.com" lacks a slash; write
// http://example.com`.
func (e *LineError) Error() string {
	var b strings.Builder
	if e.File != "" {
		fmt.Fprintf(&b, "%s:%d: ", e.File, e.Line)
	}
	fmt.Fprintf(&b, "%q %s", abbreviate(e.Text), e.Reason)
	if e.Instead != "" {
		fmt.Fprintf(&b, "; write %s", abbreviate(e.Instead))
	}
	return b.String()
}

// abbreviate keeps long lines out of messages.
func abbreviate(s string) string {
	const limit = 200
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}
