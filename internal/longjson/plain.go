package longjson

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Plain returns JSON text that is safe for a terminal. It escapes what encoding/json leaves as it
// is and some terminals obey: DEL, the control codes U+0080 to U+009F, and the characters that
// reverse the direction of text. All of them can only be inside strings.
func Plain(text []byte) []byte {
	if !bytes.ContainsFunc(text, obeyed) {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		if obeyed(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

func obeyed(r rune) bool {
	return r >= '\x7f' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}
