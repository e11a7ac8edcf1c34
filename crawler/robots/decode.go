package robots

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
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

// decodeUTF16 never fails: unpaired surrogates become U+FFFD, an odd byte at the end
// is dropped.
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
