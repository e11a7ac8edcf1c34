package page

import (
	"bytes"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// Shift_JIS and Big5 are decoded as in the Encoding standard. x/text differs in two ways: after the first byte of a
// character, it drops a byte of ASCII that makes no character with it, and it does not know the private characters of Shift_JIS.

// decodeDoubleByte decodes a body. e is one of these two.
func decodeDoubleByte(e encoding.Encoding, body []byte) []byte {
	invalid, decoder := invalidBig5(), e.NewDecoder()
	if e == japanese.ShiftJIS {
		invalid = invalidShiftJIS()
	}
	body = bytes.Clone(body)
	text := make([]byte, 0, len(body)+len(body)/2)
	from := 0
	decodeTo := func(to int) {
		if from == to {
			return
		}
		part, _ := decoder.Bytes(body[from:to]) // it replaces what is invalid
		text = append(text, part...)
	}
	for i := 0; i+1 < len(body); i++ {
		switch first, second := body[i], body[i+1]; {
		case !isFirst(e, first):
		case e == japanese.ShiftJIS && private(first, second) > 0:
			decodeTo(i)
			text = utf8.AppendRune(text, private(first, second))
			i++
			from = i + 1
		case second < utf8.RuneSelf && invalid[first][second]:
			body[i] = 0xff // is invalid alone
		default:
			i++
		}
	}
	decodeTo(len(body))
	return text
}

// isFirst reports whether a byte begins a character of two bytes.
func isFirst(e encoding.Encoding, b byte) bool {
	if e == japanese.ShiftJIS {
		return 0x81 <= b && b <= 0x9f || 0xe0 <= b && b <= 0xfc
	}
	return 0x81 <= b && b <= 0xfe
}

// private returns a private character of Shift_JIS, or 0.
func private(first, second byte) rune {
	switch {
	case first < 0xf0 || first > 0xf9 || second < 0x40 || second == 0x7f || second > 0xfc:
		return 0
	case second > 0x7f:
		second--
	}
	return 0xe000 + rune(first-0xf0)*188 + rune(second-0x40)
}

var (
	invalidShiftJIS = sync.OnceValue(func() *invalidPairs { return invalidPairsOf(japanese.ShiftJIS) })
	invalidBig5     = sync.OnceValue(func() *invalidPairs { return invalidPairsOf(traditionalchinese.Big5) })
)

// invalidPairs says which first bytes make no character with a byte of ASCII.
type invalidPairs [256][utf8.RuneSelf]bool

func invalidPairsOf(e encoding.Encoding) *invalidPairs {
	var pairs invalidPairs
	decoder := e.NewDecoder()
	for first := range pairs {
		for second := range pairs[first] {
			text, _ := decoder.Bytes([]byte{byte(first), byte(second)})
			pairs[first][second] = bytes.HasPrefix(text, []byte("\uFFFD"))
		}
	}
	return &pairs
}
