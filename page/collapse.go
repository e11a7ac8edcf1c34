package page

import (
	"unicode"
	"unicode/utf8"
)

// collapser collects text and collapses its white space: a run becomes one space,
// and leading and trailing white space is dropped.
type collapser struct {
	buf   []byte
	space bool // write a space before the next word
}

// write adds text from the source. It copies stretches of words with single spaces between
// them at once, which is most of the text.
func (c *collapser) write(s string) {
	for i := 0; i < len(s); {
		start := i
		i = stretch(s, i)
		c.word(s[start:i])
		for i < len(s) && beginsSpace[s[i]] {
			size := spaceLen(s[i:])
			if size == 0 {
				break
			}
			c.space = true
			i += size
		}
	}
}

// stretch returns the end of the text that begins at start and has no white space
// inside but single spaces.
func stretch(s string, start int) int {
	for i := start; i < len(s); i++ {
		if !beginsSpace[s[i]] {
			continue
		}
		if s[i] == ' ' && i > start && i+1 < len(s) && !beginsSpace[s[i+1]] {
			i++
			continue
		}
		if spaceLen(s[i:]) > 0 {
			return i
		}
	}
	return len(s)
}

// word adds text that neither begins nor ends with white space.
func (c *collapser) word(s string) {
	if s == "" {
		return
	}
	if c.space && len(c.buf) > 0 {
		c.buf = append(c.buf, ' ')
	}
	c.space = false
	c.buf = append(c.buf, s...)
}

// separate makes the next text begin a new word.
func (c *collapser) separate() { c.space = true }

func (c *collapser) String() string { return string(c.buf) }

// keptBuffer bounds the buffers that are kept for the next page.
const keptBuffer = 256 << 10

// emptied returns an empty collapser with the buffer of c, unless that is very large.
func (c *collapser) emptied() collapser {
	if cap(c.buf) > keptBuffer {
		return collapser{}
	}
	return collapser{buf: c.buf[:0]}
}

// beginsSpace holds the bytes with which white space may begin. White space outside ASCII
// is U+0085, U+00A0, U+1680, and some characters from U+2000 to U+3000.
var beginsSpace = [256]bool{'\t': true, '\n': true, '\v': true, '\f': true, '\r': true, ' ': true, 0xC2: true, 0xE1: true, 0xE2: true, 0xE3: true}

// spaceLen returns the length in bytes of the white space character at the beginning of s,
// or 0 if there is none. White space is defined by Unicode and includes &nbsp; and the
// ideographic space.
func spaceLen(s string) int {
	c := s[0]
	if c < utf8.RuneSelf {
		if c == ' ' || '\t' <= c && c <= '\r' {
			return 1
		}
		return 0
	}
	if !beginsSpace[c] {
		return 0
	}
	r, size := utf8.DecodeRuneInString(s)
	if unicode.IsSpace(r) {
		return size
	}
	return 0
}

// collapse returns s with white space collapsed.
func collapse(s string) string {
	var c collapser
	c.write(s)
	return c.String()
}

// cut returns the first n code points of s.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
