package analysis

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Folding makes different spellings of a word equal: it makes letters lower case, replaces
// compatibility forms (full-width letters, ligatures), writes digits of any script as 0 to
// 9 and, in Latin, Greek, Hebrew and Arabic, drops diacritics. In other scripts marks carry
// meaning (Devanagari vowels, й against и, が against か) and stay. Only ё becomes е, as
// Russian readers type it.
//
// Folding comes before stemming, so that "création" and "creation" reach the stemmer alike.
// Some stemmers lose by this (Portuguese -ção and -ções get different stems); readers
// without accents on their keyboards gain more.

// Normalize brings text to NFC, which the tokenizer expects. Nearly all text is NFC already
// and comes back unchanged.
func Normalize(s string) string {
	if isASCII(s) || norm.NFC.IsNormalString(s) {
		return s
	}
	return norm.NFC.String(s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendFolded appends the folded form of a letter, digit or mark. It may append nothing (a
// mark that folding drops), and it never appends an ASCII byte other than a lower-case
// letter or a digit.
func appendFolded(dst []byte, r rune) []byte {
	switch {
	case r < utf8.RuneSelf:
		return append(dst, asciiFold[r])
	case r >= 0x430 && r <= 0x44F, r >= 0x4E00 && r <= 0x9FFF, r >= 0xAC00 && r <= 0xD7A3, r >= 0x3041 && r <= 0x30FA:
		return utf8.AppendRune(dst, r)
	case r < foldTableEnd:
		return append(dst, foldTable()[r]...)
	}
	return append(dst, foldSlow(r)...)
}

const foldTableEnd = 0x2000 // Latin, Greek, Cyrillic, … and Latin/Greek Extended

var foldTable = sync.OnceValue(func() *[foldTableEnd]string {
	t := new([foldTableEnd]string)
	for r := rune(utf8.RuneSelf); r < foldTableEnd; r++ {
		if unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r) {
			t[r] = foldSlow(r)
		}
	}
	return t
})

// special has the letters that Unicode does not decompose, but that readers type without
// their stroke or as two letters.
var special = map[rune]string{
	'ß': "ss", 'ẞ': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d",
	'ł': "l", 'ħ': "h", 'ı': "i", 'þ': "th", 'ς': "σ", 'ё': "е",
	// Arabic as readers type it: alef without hamza, the dotless ya and the ta marbuta as
	// the letters that they look like, Persian letters as the Arabic ones, no tatweel.
	'أ': "ا", 'إ': "ا", 'آ': "ا", 'ٱ': "ا", 'ى': "ي", 'ی': "ي", 'ک': "ك", 'ة': "ه", 'ـ': "",
}

func foldSlow(r rune) string {
	r = unicode.ToLower(r)
	if s, ok := special[r]; ok {
		return s
	}
	if unicode.IsDigit(r) && r < 0x1D000 { // later digits have compatibility forms
		return string('0' + digitValue(r))
	}
	form := norm.NFKC
	strip := unicode.In(r, unicode.Latin, unicode.Greek, unicode.Hebrew) || unicode.Is(unicode.Inherited, r)
	if strip {
		form = norm.NFKD
	}
	var out []byte
	for _, f := range form.String(string(r)) {
		f = unicode.ToLower(f)
		mark := unicode.IsMark(f)
		if (mark && strip) || !(mark || unicode.IsLetter(f) || unicode.IsNumber(f)) {
			continue
		}
		if s, ok := special[f]; ok {
			out = append(out, s...)
			continue
		}
		if f < utf8.RuneSelf {
			out = append(out, asciiFold[f])
			continue
		}
		out = utf8.AppendRune(out, f)
	}
	return string(out)
}

// digitValue returns the value of a decimal digit. Unicode has decimal digits in runs of ten.
func digitValue(r rune) (v rune) {
	for v < 9 && unicode.IsDigit(r-1) {
		r--
		v++
	}
	return v
}

// asciiFold maps ASCII letters and digits to their folded form, and everything else to 0.
var asciiFold = func() (t [utf8.RuneSelf]byte) {
	for c := byte('a'); c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = c, c
	}
	for c := byte('0'); c <= '9'; c++ {
		t[c] = c
	}
	return t
}()

// Truncate returns the longest prefix of at most n bytes that ends between runes.
func Truncate[T string | []byte](s T, n int) T {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
