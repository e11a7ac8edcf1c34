package page

import (
	"unicode"
	"unicode/utf8"
)

// collapser gathers text with white space collapsed: a run of white space
// becomes one space, none stands at either end.
type collapser struct {
	buf   []byte
	space bool // a space is due before the next word
}

// write adds text as it stands in the source.
func (c *collapser) write(s string) {
	for i := 0; i < len(s); {
		start := i
		for i < len(s) {
			size := spaceLen(s[i:])
			if size > 0 {
				break
			}
			i++
		}
		c.word(s[start:i])
		for i < len(s) {
			size := spaceLen(s[i:])
			if size == 0 {
				break
			}
			c.space = true
			i += size
		}
	}
}

// word adds text without white space.
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

// separate makes what is written next a new word.
func (c *collapser) separate() { c.space = true }

func (c *collapser) String() string { return string(c.buf) }

// spaceLen is the length in bytes of the white space character that s begins
// with, 0 if it begins with another. White space is what Unicode says, so
// &nbsp; and the ideographic space are, too.
func spaceLen(s string) int {
	c := s[0]
	if c < utf8.RuneSelf {
		if c == ' ' || '\t' <= c && c <= '\r' {
			return 1
		}
		return 0
	}
	// The only white space outside ASCII: U+0085, U+00A0, U+1680, U+2000 to
	// U+3000. Their first bytes tell most other characters apart.
	if c != 0xC2 && c != 0xE1 && c != 0xE2 && c != 0xE3 {
		return 0
	}
	r, size := utf8.DecodeRuneInString(s)
	if unicode.IsSpace(r) {
		return size
	}
	return 0
}

// collapse is s with white space collapsed.
func collapse(s string) string {
	var c collapser
	c.write(s)
	return c.String()
}

// cut is the first n code points of s.
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
