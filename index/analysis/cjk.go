package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Scripts without spaces between words are indexed as overlapping bigrams, and the last
// character of a run is indexed again on its own:
//
//	東京都  →  東京 京都 都
//
// A query of two or more characters is the phrase of its bigrams. A query of one character
// is a prefix query: the bigrams answer it for every character but the last of a run, and
// the repeated character answers it for the last. (A word list would give better words, but
// needs a dependency per language. Unigrams alone would turn every query into a long phrase
// of very frequent terms.)

// isBigramScript reports whether a rune at or above U+0E00 belongs to a script
// that is indexed by bigrams: Han, Kana, Bopomofo, Hangul, Thai, Lao, Burmese,
// Khmer.
func isBigramScript(r rune) bool {
	if r >= 0x4E00 && r <= 0x9FFF || r >= 0xAC00 && r <= 0xD7A3 {
		return true
	}
	return inBigramBlock(r) && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r))
}

func inBigramBlock(r rune) bool {
	switch {
	case r < 0x0E00:
		return false
	case r <= 0x0EFF, // Thai, Lao
		r >= 0x1000 && r <= 0x109F,   // Burmese
		r >= 0x1100 && r <= 0x11FF,   // Hangul Jamo
		r >= 0x1780 && r <= 0x17FF,   // Khmer
		r >= 0x2E80 && r <= 0x2FDF,   // radicals
		r >= 0x3005 && r <= 0x3007,   // 々 〆 〇
		r >= 0x3031 && r <= 0x3035,   // kana repeat marks
		r >= 0x3040 && r <= 0x318F,   // Kana, Bopomofo, Hangul compatibility Jamo
		r >= 0x31A0 && r <= 0x31BF,   // Bopomofo Extended
		r >= 0x31F0 && r <= 0x31FF,   // Katakana extensions
		r >= 0x3400 && r <= 0x4DBF,   // Han extension A
		r >= 0xA960 && r <= 0xA97F,   // Jamo extended A
		r >= 0xD7A4 && r <= 0xD7FF,   // Jamo extended B
		r >= 0xF900 && r <= 0xFAFF,   // Han compatibility
		r >= 0xFF66 && r <= 0xFFDC,   // half-width Kana and Hangul
		r >= 0x1B000 && r <= 0x1B16F, // Kana supplement
		r >= 0x20000 && r <= 0x323AF: // Han extensions B to H
		return true
	}
	return false
}

// appendCharacter appends the folded form of the character that src begins with, whose first
// rune, of n bytes, is r. It returns the length of the character: a half-width Kana and the
// voiced mark after it are one, as in full width, where NFC has composed them.
func appendCharacter(dst []byte, src string, r rune, n int) ([]byte, int) {
	if isHalfWidthKana(r) && (strings.HasPrefix(src[n:], "\uFF9E") || strings.HasPrefix(src[n:], "\uFF9F")) {
		end := n + utf8.RuneLen(0xFF9E)
		if voiced := norm.NFKC.String(src[:end]); utf8.RuneCountInString(voiced) == 1 {
			return append(dst, voiced...), end
		}
	}
	return appendFolded(dst, r), n
}

func isHalfWidthKana(r rune) bool { return r >= 0xFF66 && r <= 0xFF9D }
