package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxToken is the longest token, in bytes. Longer words (encoded data, mostly)
// are cut, in documents and queries alike.
const maxToken = 64

// token is one term of a text, folded but not stemmed.
type Token struct {
	Start, End int    // byte range in the text it came from
	Text       []byte // valid until the next call of next
	Bigram     bool   // of a script without spaces: never stemmed
	Tail       bool   // the last character of a run, given once more by itself
	Letters    bool   // no digits: a word that may be stemmed
}

// tokenizer splits NFC text into tokens without allocating. A word is a run of
// letters, digits and marks; everything else separates, the underscore and the
// apostrophe too. The English possessive 's is dropped; C++ and C# are words.
type Tokenizer struct {
	src   string
	pos   int
	inRun bool // the rune at pos continues a run of a bigram script
	buf   [maxToken + 2*utf8.UTFMax*8]byte
	Token Token
}

func (t *Tokenizer) Reset(src string) {
	t.src, t.pos, t.inRun = src, 0, false
}

// next moves to the next token, in t.tok, and reports whether there is one.
func (t *Tokenizer) Next() bool {
	for t.pos < len(t.src) {
		c := t.src[t.pos]
		if c < utf8.RuneSelf {
			if asciiFold[c] != 0 {
				if t.word() {
					return true
				}
				continue
			}
			t.pos++
			continue
		}
		r, n := utf8.DecodeRuneInString(t.src[t.pos:])
		switch {
		case isBigramScript(r):
			if t.bigram(r, n) {
				return true
			}
		case unicode.IsLetter(r) || isDigit(r):
			if t.word() {
				return true
			}
		default:
			t.pos += n
		}
	}
	return false
}

// skipOthers moves over words in ASCII whose folded form begins with none of these bytes. What
// begins otherwise, or goes on otherwise, is left to next.
func (t *Tokenizer) SkipOthers(first *[256]bool) {
	for t.pos < len(t.src) {
		f := byte(0)
		if c := t.src[t.pos]; c < utf8.RuneSelf {
			f = asciiFold[c]
		} else {
			return
		}
		if f == 0 {
			t.pos++
			continue
		}
		if first[f] {
			return
		}
		end := t.pos + 1
		for end < len(t.src) && t.src[end] < utf8.RuneSelf && asciiFold[t.src[end]] != 0 {
			end++
		}
		if end < len(t.src) && t.src[end] >= utf8.RuneSelf {
			return
		}
		t.pos = end
		if end < len(t.src) && t.src[end] == '\'' {
			t.skipPossessive()
		}
	}
}

// bigram gives the pair of runes at pos, or the last rune of a run by itself.
// It reports false for a rune that folds to nothing.
func (t *Tokenizer) bigram(r rune, n int) bool {
	b := appendFolded(t.buf[:0], r)
	tok := Token{Start: t.pos, Bigram: true}
	t.pos += n
	tok.End = t.pos
	next, m := utf8.DecodeRuneInString(t.src[t.pos:])
	if m > 0 && isBigramScript(next) {
		b = appendFolded(b, next)
		tok.End += m
		t.inRun = true
	} else {
		tok.Tail = t.inRun
		t.inRun = false
	}
	tok.Text = b
	t.Token = tok
	return len(b) > 0
}

// word gives the word at pos. It reports false for one that folds to nothing.
func (t *Tokenizer) word() bool {
	b := t.buf[:0]
	tok := Token{Start: t.pos, Letters: true}
	for t.pos < len(t.src) {
		c := t.src[t.pos]
		if c < utf8.RuneSelf {
			f := asciiFold[c]
			if f == 0 {
				break
			}
			if f <= '9' {
				tok.Letters = false
			}
			if len(b) < maxToken {
				b = append(b, f)
			}
			t.pos++
			continue
		}
		r, n := utf8.DecodeRuneInString(t.src[t.pos:])
		if !inWord(r) {
			break
		}
		if isDigit(r) {
			tok.Letters = false
		}
		if len(b) < maxToken && !joiner(r) {
			b = appendFolded(b, r)
		}
		t.pos += n
	}
	tok.End = t.pos
	if tok.Letters && tok.End-tok.Start == 1 {
		if name := t.signs(); name != "" {
			b, tok.End, tok.Letters = append(b, name...), t.pos, false
		}
	}
	t.skipPossessive()
	if len(b) > maxToken {
		b = cutRunes(b, maxToken)
	}
	tok.Text = b
	t.Token = tok
	return len(b) > 0
}

// signs moves over the signs that belong to a letter before them, as in C++ and C#, and
// names them: without them these would be the letter C.
func (t *Tokenizer) signs() string {
	rest := t.src[t.pos:]
	switch {
	case strings.HasPrefix(rest, "++") && !strings.HasPrefix(rest, "+++"):
		t.pos += 2
		return "plusplus"
	case strings.HasPrefix(rest, "#") && !strings.HasPrefix(rest, "##"):
		if after, n := utf8.DecodeRuneInString(rest[1:]); n > 0 && inWord(after) {
			return "" // c#L10, a URL's fragment
		}
		t.pos++
		return "sharp"
	}
	return ""
}

func (t *Tokenizer) skipPossessive() {
	rest := t.src[t.pos:]
	n := 0
	switch {
	case strings.HasPrefix(rest, "'s"), strings.HasPrefix(rest, "'S"):
		n = 2
	case strings.HasPrefix(rest, "’s"), strings.HasPrefix(rest, "’S"):
		n = len("’s")
	default:
		return
	}
	if after, _ := utf8.DecodeRuneInString(rest[n:]); n == len(rest) || !inWord(after) {
		t.pos += n
	}
}

// inWord reports whether a rune continues a word that has begun.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return asciiFold[r] != 0
	}
	return (unicode.IsLetter(r) || unicode.IsMark(r) || isDigit(r) || joiner(r)) && !isBigramScript(r)
}

// isDigit takes decimal digits of any script and the raised and lowered ones
// (H₂O), but not fractions and Roman or circled numbers.
func isDigit(r rune) bool {
	return unicode.IsDigit(r) || r == '²' || r == '³' || r == '¹' || (r >= 0x2070 && r <= 0x2089 && unicode.IsNumber(r))
}

// joiner reports the invisible characters that do not end a word: soft hyphen,
// the zero-width (non-)joiner and the word joiner.
func joiner(r rune) bool {
	return r == 0xAD || r == 0x200C || r == 0x200D || r == 0x2060
}

// cutRunes is the longest prefix of at most n bytes that ends between runes.
func cutRunes(b []byte, n int) []byte {
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}
