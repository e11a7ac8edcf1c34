package robots

import (
	"bytes"
	"encoding/binary"
	"iter"
	"strings"
	"unicode/utf16"
)

// decode returns the text of a robots.txt file without its byte order mark, and how
// many bytes at the end of body it ignored because they exceed limit.
//
// It drops a line that the limit cuts: a part of "Disallow: /a/b" would be a different
// rule.
func decode(body []byte, limit int) (text string, ignored int) {
	kept := body
	if len(body) > limit {
		kept = body[:limit]
	}
	switch {
	case bytes.HasPrefix(kept, []byte{0xFF, 0xFE}):
		text = decodeUTF16(kept[2:], binary.LittleEndian)
	case bytes.HasPrefix(kept, []byte{0xFE, 0xFF}):
		text = decodeUTF16(kept[2:], binary.BigEndian)
	default:
		text = string(skipMark(kept))
	}
	if len(kept) < len(body) {
		text = dropLastLine(text)
	}
	return text, len(body) - len(kept)
}

// skipMark drops the UTF-8 byte order mark, or an incomplete one: editors and
// concatenating scripts leave such fragments, and no record begins with them.
func skipMark(b []byte) []byte {
	for _, c := range []byte{0xEF, 0xBB, 0xBF} {
		if len(b) == 0 || b[0] != c {
			break
		}
		b = b[1:]
	}
	return b
}

// decodeUTF16 never fails: unpaired surrogates become U+FFFD, and an odd byte at the
// end is dropped.
func decodeUTF16(b []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

func dropLastLine(s string) string {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '\n' || s[i] == '\r' {
			return s[:i+1]
		}
	}
	return ""
}

// looksLikeHTML tells a file that was saved as a web page.
func looksLikeHTML(text string) bool {
	head := strings.ToLower(text[:min(len(text), 1024)])
	return strings.Contains(head, "<html") || strings.Contains(head, "<body") || strings.Contains(head, "<!doctype html")
}

// withoutTags drops everything from "<" to the next ">" of a line.
func withoutTags(line string) string {
	var b strings.Builder
	for {
		before, rest, open := strings.Cut(line, "<")
		_, after, closed := strings.Cut(rest, ">")
		b.WriteString(before)
		if !open {
			return b.String()
		}
		if !closed {
			b.WriteByte('<')
			b.WriteString(rest)
			return b.String()
		}
		line = after
	}
}

// blanks are trimmed around field names and values. The RFC names space and tab.
const blanks = " \t\v\f"

// lines yields the lines of a file with their numbers, from 1. CR, LF and CRLF end a
// line (RFC 9309 section 2.2), even mixed in one file.
func lines(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for n := 1; text != ""; n++ {
			line, rest := text, ""
			if end := strings.IndexAny(text, "\r\n"); end >= 0 {
				line, rest = text[:end], text[end+1:]
				if text[end] == '\r' && strings.HasPrefix(rest, "\n") {
					rest = rest[1:]
				}
			}
			if !yield(n, line) {
				return
			}
			text = rest
		}
	}
}

// splitRecord splits a line without comment into field name and value. White space may
// replace a missing colon if it leaves exactly two words.
func splitRecord(line string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(line, ":")
	if !ok {
		words := strings.FieldsFunc(line, isBlank)
		if len(words) != 2 {
			return "", "", false
		}
		return words[0], words[1], true
	}
	name = strings.Trim(name, blanks)
	return name, strings.Trim(value, blanks), name != ""
}

func isBlank(r rune) bool { return strings.ContainsRune(blanks, r) }

// withoutComment drops what follows a number sign, and blanks around the rest.
func withoutComment(line string) string {
	line, _, _ = strings.Cut(line, "#")
	return strings.Trim(line, blanks)
}

type recordKind uint8

const (
	unknownRecord recordKind = iota
	userAgentRecord
	allowRecord
	disallowRecord
	crawlDelayRecord
	sitemapRecord
)

// recordNames are the field names in lower case, including the misspellings that the
// parsers of Google and crawler-commons have found to be common.
var recordNames = map[string]recordKind{
	"user-agent": userAgentRecord,
	"useragent":  userAgentRecord,
	"user agent": userAgentRecord,
	"user_agent": userAgentRecord,
	"useg-agent": userAgentRecord,

	"allow": allowRecord,

	"disallow":  disallowRecord,
	"dissallow": disallowRecord,
	"dissalow":  disallowRecord,
	"disalow":   disallowRecord,
	"diasllow":  disallowRecord,
	"disallaw":  disallowRecord,
	"desallow":  disallowRecord,

	"crawl-delay": crawlDelayRecord,
	"crawldelay":  crawlDelayRecord,
	"crawl delay": crawlDelayRecord,

	"sitemap":  sitemapRecord,
	"sitemaps": sitemapRecord,
	"site-map": sitemapRecord,
}

const longestRecordName = len("crawl-delay")

func kindOf(name string) recordKind {
	if len(name) > longestRecordName {
		return unknownRecord
	}
	return recordNames[strings.ToLower(name)]
}
