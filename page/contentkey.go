package page

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"
)

// shellLength is the number of code points of text and template text under which
// a page's key is that of its raw body.
const shellLength = 64

// contentKey is the key of a page (semantics.md section 3, "Content key").
func contentKey(title, text, template string, body []byte) ContentKey {
	if utf8.RuneCountInString(text)+utf8.RuneCountInString(template) < shellLength {
		return sha256.Sum256(body)
	}
	b := make([]byte, 0, len(title)+len(text)+len(template)+2)
	b = append(b, title...)
	b = append(b, '\n')
	b = append(b, text...)
	b = append(b, '\n')
	b = append(b, template...)
	return sha256.Sum256(b)
}

// String is the key in lower-case hex.
func (k ContentKey) String() string { return hex.EncodeToString(k[:]) }
