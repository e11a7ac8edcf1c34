package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxToken is the length of the longest token, in bytes. Longer words, mostly encoded data,
// are truncated in documents and queries alike.
const maxToken = 64

// Token is one word or bigram of a text, folded but not stemmed.
type Token struct {
	Start, End int    // byte range in the text it came from
	First      int    // of a bigram: where its first character ends there
	Text       []byte // valid until the next call of Next
	Bigram     bool   // from a script without spaces; never stemmed
	Tail       bool   // the last character of a run, repeated on its own
	Letters    bool   // a word without digits, which may be stemmed
}

// Tokenizer splits NFC text into tokens without allocating. A word is a run of letters,
// digits and marks; everything else separates words, including the underscore and the
// apostrophe. The English possessive 's is dropped; C++ and C# are words.
type Tokenizer struct {
	src   string
	pos   int
	inRun bool // the rune at pos continues a run of a bigram script
	buf   [maxToken + 2*utf8.UTFMax*8]byte
	Token Token
}

// Reset begins a text, which must be NFC.
func (t *Tokenizer) Reset(src string) {
	t.src, t.pos, t.inRun = src, 0, false
}

// Next moves to the next token, and reports whether there is one.
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

// SkipOthers skips words in ASCII whose folded form begins with none of these bytes. It
// stops before any word that is not all ASCII, and leaves it to Next.
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

// bigram makes a token of the two characters at pos, or of the last character of a run. It
// reports false for a character that folds to nothing.
func (t *Tokenizer) bigram(r rune, n int) bool {
	b, n := appendCharacter(t.buf[:0], t.src[t.pos:], r, n)
	tok := Token{Start: t.pos, Bigram: true}
	t.pos += n
	tok.First, tok.End = t.pos, t.pos
	next, m := utf8.DecodeRuneInString(t.src[t.pos:])
	if m > 0 && isBigramScript(next) {
		b, m = appendCharacter(b, t.src[t.pos:], next, m)
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

// word makes a token of the word at pos. It reports false for a word that folds to nothing.
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
	tok.Text = Truncate(b, maxToken)
	t.Token = tok
	return len(tok.Text) > 0
}

// signs skips the signs that belong to the letter before them, as in C++ and C#, and names
// them. Without the name, these words would be the letter C.
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

// inWord reports whether a rune continues a word.
func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return asciiFold[r] != 0
	}
	return (unicode.IsLetter(r) || unicode.IsMark(r) || isDigit(r) || joiner(r)) && !isBigramScript(r)
}

// isDigit accepts decimal digits of any script and superscript and subscript digits (H₂O),
// but no fractions and no Roman or circled numbers.
func isDigit(r rune) bool {
	return unicode.IsDigit(r) || r == '²' || r == '³' || r == '¹' || (r >= 0x2070 && r <= 0x2089 && unicode.IsNumber(r))
}

// joiner reports whether a rune is invisible and does not end a word: soft hyphen,
// zero-width joiner and non-joiner, word joiner.
func joiner(r rune) bool {
	return r == 0xAD || r == 0x200C || r == 0x200D || r == 0x2060
}
