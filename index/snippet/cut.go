package snippet

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A snippet begins and ends at a space if one is near, and otherwise between characters as
// readers see them. These are an approximation of the grapheme clusters of UAX #29 that
// needs no tables: a cut never splits a base from its marks, joined emoji, flags, or a
// Hangul syllable written in Jamo.

// spaceReach is how far a cut moves to fall on a space, in bytes.
const spaceReach = 40

// snippetBegin returns a cut about context bytes before pos.
func snippetBegin(text string, pos, context int) int {
	want := pos - context
	if want <= 0 {
		return 0
	}
	near := text[want:min(want+spaceReach, pos)]
	if i := strings.IndexByte(near, ' '); i >= 0 {
		return want + i + 1
	}
	for cut := want; cut < pos; cut++ {
		if isCut(text, cut) {
			return cut
		}
	}
	return pos
}

// snippetEnd returns a cut at or before want, but not before least.
func snippetEnd(text string, least, want int) int {
	if want >= len(text) {
		return len(text)
	}
	want = max(want, least)
	from := max(want-spaceReach, least)
	if i := strings.LastIndexByte(text[from:want], ' '); i >= 0 {
		return from + i
	}
	for cut := want; cut > least; cut-- {
		if isCut(text, cut) {
			return cut
		}
	}
	return least
}

// isCut reports whether text may be cut at byte i.
func isCut(text string, i int) bool {
	if i <= 0 || i >= len(text) {
		return true
	}
	if !utf8.RuneStart(text[i]) {
		return false
	}
	after, _ := utf8.DecodeRuneInString(text[i:])
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	switch {
	case extends(after), before == zwj:
		return false
	case isJamo(before) && isJamo(after):
		return false
	case isFlagHalf(before) && isFlagHalf(after):
		return flagHalvesBefore(text[:i])%2 == 0
	}
	return true
}

const zwj = '\u200D'

func extends(r rune) bool {
	return r == zwj || unicode.IsMark(r) || r >= 0x1F3FB && r <= 0x1F3FF // skin tones
}

func isJamo(r rune) bool     { return r >= 0x1100 && r <= 0x11FF }
func isFlagHalf(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

func flagHalvesBefore(text string) (n int) {
	for {
		r, size := utf8.DecodeLastRuneInString(text)
		if !isFlagHalf(r) {
			return n
		}
		text = text[:len(text)-size]
		n++
	}
}
