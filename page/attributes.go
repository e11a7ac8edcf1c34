package page

import (
	"bytes"
	"slices"
)

// An attribute of two bytes takes 48 bytes in a tree. While x/net/html reads a tag, each new name takes another
// hundred, and the table of names is cleared for each tag that follows. So a tag of 32 MiB would take 2.6 GB, and one
// of 16 MiB before a million others minutes.

// Of a tag, so many attributes count: the first ones, and the last ones. What looks like a tag may be inside a comment or
// a script and end with it: the last ones are then "--" or "</script".
const (
	firstAttributes = 1 << 16
	lastAttributes  = 8
)

// trimTags returns a page without the attributes that do not count. Pages up to smallPage cannot have too many.
func trimTags(body []byte) []byte {
	if len(body) <= smallPage {
		return body
	}
	trimmed := body
	s := newTagScanner(body)
	for s.next(trimmed) {
		if s.from == s.to {
			continue
		}
		if len(trimmed) == len(body) {
			trimmed = bytes.Clone(body)
		}
		trimmed = slices.Delete(trimmed, s.from, s.to)
	}
	return trimmed[:s.at]
}

// hasManyAttributes reports whether the tags of a page have more attributes in all.
func hasManyAttributes(body []byte, most int) bool {
	s := newTagScanner(body)
	for s.next(body) {
		most -= s.attributes
	}
	return most < 0 || s.at < len(body)
}

// tagScanner reads the tags of a page. It takes what looks like a tag for one, wherever it is.
type tagScanner struct {
	at         int // where it goes on
	left       int // how many bytes it may still read
	attributes int // of the last tag
	from, to   int // where those of them are that do not count, if there are any
}

func newTagScanner(body []byte) tagScanner { return tagScanner{left: 8 * len(body)} }

// next reads the next tag. It returns false at the end of the page, or where it has read too much, because quoted values
// contain tags with quoted values that reach beyond them, and so on.
func (s *tagScanner) next(body []byte) bool {
	i := bytes.IndexByte(body[s.at:], '<')
	if i < 0 {
		s.at = len(body)
		return false
	}
	s.attributes, s.from, s.to = 0, 0, 0
	tag := s.at + i
	name := tag + 1
	for s.at = name; s.at < len(body) && !endsName(body[s.at]); s.at++ {
	}
	if s.at == name { // also an end tag
		return true
	}
	var last [lastAttributes]int
	inner := 0
	start, end := nextAttribute(body, s.at)
	for ; start < end; start, end = nextAttribute(body, end) {
		if s.attributes == firstAttributes {
			s.from = start
		}
		last[s.attributes%lastAttributes] = start
		s.attributes++
		if inner == 0 && (isQuote(body[end-1]) || end == len(body)) && bytes.IndexByte(body[start:end], '<') >= 0 {
			inner = start
		}
	}
	s.left -= start - tag
	switch {
	case s.left < 0:
		s.at = tag
		return false
	case s.attributes > firstAttributes+lastAttributes: // to be read again when these are gone
		s.to, s.at = last[s.attributes%lastAttributes], tag
	case inner > 0:
		s.from, s.at = 0, inner // a tag in a quoted value
	default:
		s.from, s.at = 0, start
	}
	return true
}

func isQuote(c byte) bool { return c == '"' || c == '\'' }
