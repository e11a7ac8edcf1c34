package page

import (
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// encodeRune encodes a character in a set, with that canonical label, as the Encoding standard does, and
// reports whether the set has it. The encoders of x/text differ: of several codes of a character they
// choose another one, even for some common characters, and they encode what is only to be decoded.
func encodeRune(r rune, e encoding.Encoding, label string) (string, bool) {
	if m, single := e.(*charmap.Charmap); single {
		c, ok := m.EncodeRune(r)
		if !ok && 0x80 <= r && r <= 0x9f && m.DecodeByte(byte(r)) == utf8.RuneError { // see decodeCharmap
			c, ok = byte(r), true
		}
		return string([]byte{c}), ok
	}
	if label == "shift_jis" || label == "euc-jp" {
		switch r {
		case '\u00a5': // a yen sign
			r = '\\'
		case '\u203e': // an overline
			r = '~'
		case '\u2212': // a minus sign
			r = '\uff0d'
		}
	}
	if codes := twoByteCodes[label]; codes != nil {
		if s, ok := codes()[r]; ok {
			return s, true
		}
	}
	s, err := e.NewEncoder().String(string(r))
	if err != nil || label == "big5" || label == "euc-jp" && len(s) == 3 {
		return "", false
	}
	return s, true
}

// twoByteCodes are the codes of two bytes that encoders use, by character. Of several codes of one
// character, the first counts.
var twoByteCodes = map[string]func() map[rune]string{
	"big5":      sync.OnceValue(func() map[rune]string { return codesFrom(0xa140, "big5") }), // those before are only decoded
	"euc-jp":    sync.OnceValue(func() map[rune]string { return codesFrom(0xa1a1, "euc-jp") }),
	"shift_jis": sync.OnceValue(func() map[rune]string { return codesFrom(0x8140, "shift_jis") }),
}

func codesFrom(first int, label string) map[rune]string {
	codes := make(map[rune]string)
	decoder := encodingFor(label).NewDecoder()
	for code := first; code <= 0xfefe; code++ {
		lead := byte(code >> 8)
		if label == "shift_jis" && (lead == 0xed || lead == 0xee) { // only decoded
			continue
		}
		s := string([]byte{lead, byte(code)})
		decoded, _ := decoder.String(s) // has U+FFFD where there is no character
		r, size := utf8.DecodeRuneInString(decoded)
		if r == utf8.RuneError || size < len(decoded) {
			continue
		}
		if _, known := codes[r]; !known || label == "big5" && hasLastCode(r) {
			codes[r] = s
		}
	}
	return codes
}

// hasLastCode reports whether the last code of a character in Big5 counts (Encoding standard, "index
// Big5 pointer").
func hasLastCode(r rune) bool {
	switch r {
	case '═', '╞', '╡', '╪', '十', '卅':
		return true
	}
	return false
}
