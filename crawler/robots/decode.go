package robots

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

// decode gives the text of a robots.txt file without its byte order mark, and how
// many bytes at the end of body were ignored because they go beyond limit.
//
// A line that the limit cuts is dropped altogether: half of "Disallow: /a/b" is a
// rule nobody wrote.
func decode(body []byte, limit int) (text string, ignored int) {
	kept := body
	if len(body) > limit {
		kept = body[:limit]
	}
	switch {
	case bytes.HasPrefix(kept, []byte{0xFF, 0xFE}):
		text = decodeUTF16(kept, unicode.LittleEndian)
	case bytes.HasPrefix(kept, []byte{0xFE, 0xFF}):
		text = decodeUTF16(kept, unicode.BigEndian)
	default:
		text = string(skipMark(kept))
	}
	if len(kept) < len(body) {
		text = dropLastLine(text)
	}
	return text, len(body) - len(kept)
}

// skipMark drops the UTF-8 byte order mark, or as much of its beginning as is
// there: editors and concatenating scripts leave such stumps behind, and no
// record begins with them.
func skipMark(b []byte) []byte {
	for _, c := range []byte{0xEF, 0xBB, 0xBF} {
		if len(b) == 0 || b[0] != c {
			break
		}
		b = b[1:]
	}
	return b
}

func decodeUTF16(b []byte, order unicode.Endianness) string {
	text, err := unicode.UTF16(order, unicode.UseBOM).NewDecoder().Bytes(b)
	if err != nil || !utf8.Valid(text) {
		return "" // not reached: the decoder replaces what it cannot decode
	}
	return string(text)
}

func dropLastLine(s string) string {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '\n' || s[i] == '\r' {
			return s[:i+1]
		}
	}
	return ""
}
