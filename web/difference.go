package web

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pmezard/go-difflib/difflib"
)

// Limits of a comparison, which keep it cheap whatever the texts say. Comparing hostile texts can
// take more than quadratic time.
const (
	maxCompared = 2000      // words between the first and the last difference
	maxChanged  = 128 << 10 // bytes there
	maxNear     = 16 << 10  // bytes that are shown before or after a change
)

// nearWords is how many words are shown before and after a change; other equal words are
// left out.
const nearWords = 25

// fragment is a part of a text in a comparison with another version.
type fragment struct {
	Text    string
	Changed bool // the other version does not have it
	Left    int  // this many equal words were left out here
}

// differences marks where two texts differ. cut reports whether they differ so much that they
// were not compared to their ends. Memory holds the words of what is shown, not those of the texts.
func differences(was, is string) (old, now []fragment, cut bool) {
	head, equal := commonHead(was, is)
	both := func(equal []fragment) { old, now = append(old, equal...), append(now, equal...) }
	if head == len(was) && head == len(is) {
		both(nearby(was, equal, false, false))
		return old, now, false
	}
	if head > 0 {
		both(nearby(was[:head], equal, false, true))
	}
	was, is = was[head:], is[head:]
	tail, equal := commonTail(was, is)
	end := was[len(was)-tail:]
	a, cutA := wordsOf(was[:len(was)-tail])
	b, cutB := wordsOf(is[:len(is)-tail])
	cut = cutA || cutB
	for _, c := range difflib.NewMatcher(a, b).GetOpCodes() {
		if c.Tag == 'e' {
			both(nearby(strings.Join(a[c.I1:c.I2], ""), c.I2-c.I1, true, true))
			continue
		}
		old, now = append(old, changed(a[c.I1:c.I2])...), append(now, changed(b[c.J1:c.J2])...)
	}
	if tail > 0 && !cut {
		both(nearby(end, equal, true, false))
	}
	return old, now, cut
}

// commonHead returns the length in bytes and in words of what two texts have in common at their
// beginnings.
func commonHead(a, b string) (size, words int) {
	for size < len(a) && size < len(b) {
		n := firstWord(a[size:])
		if n != firstWord(b[size:]) || a[size:size+n] != b[size:size+n] {
			break
		}
		size, words = size+n, words+1
	}
	return size, words
}

// commonTail does the same at their ends.
func commonTail(a, b string) (size, words int) {
	for size < len(a) && size < len(b) {
		restA, restB := a[:len(a)-size], b[:len(b)-size]
		n := lastWord(restA)
		if n != lastWord(restB) || restA[len(restA)-n:] != restB[len(restB)-n:] {
			break
		}
		size, words = size+n, words+1
	}
	return size, words
}

// changed marks words, without the space after the last of them.
func changed(words []string) []fragment {
	text := strings.Join(words, "")
	marked := strings.TrimRightFunc(text, unicode.IsSpace)
	switch {
	case text == "":
		return nil
	case marked == "" || marked == text:
		return []fragment{{Text: text, Changed: true}}
	}
	return []fragment{{Text: marked, Changed: true}, {Text: text[len(marked):]}}
}

// nearby returns the words of an equal part that are near a change before or after it. words is
// their number in the part.
func nearby(text string, words int, before, after bool) []fragment {
	head, tail := 0, 0
	if before {
		head = nearWords
	}
	if after {
		tail = nearWords
	}
	left := words - head - tail
	if left < nearWords && len(text) <= maxNear { // leaving out less would save little
		return []fragment{{Text: text}}
	}
	var list []fragment
	if head > 0 {
		list = append(list, fragment{Text: firstWords(text, head)})
	}
	list = append(list, fragment{Left: max(left, 1)})
	if tail > 0 {
		list = append(list, fragment{Text: lastWords(text, tail)})
	}
	return list
}

// firstWords returns the first n words of a text, but at most maxNear bytes.
func firstWords(text string, n int) string {
	text = bounded(text, maxNear)
	size := 0
	for ; n > 0 && size < len(text); n-- {
		size += firstWord(text[size:])
	}
	return text[:size]
}

// lastWords returns the last n words of a text, but at most maxNear bytes.
func lastWords(text string, n int) string {
	begin := max(len(text)-maxNear, 0)
	for begin < len(text) && !utf8.RuneStart(text[begin]) {
		begin++
	}
	text = text[begin:]
	size := 0
	for ; n > 0 && size < len(text); n-- {
		size += lastWord(text[:len(text)-size])
	}
	return text[len(text)-size:]
}

// wordsOf divides a text into words, each with the space after it. cut reports whether there are
// more than the limits allow.
func wordsOf(text string) (words []string, cut bool) {
	if cut = len(text) > maxChanged; cut {
		text = bounded(text, maxChanged)
	}
	for text != "" {
		if len(words) == maxCompared {
			return words, true
		}
		n := firstWord(text)
		words, text = append(words, text[:n]), text[n:]
	}
	return words, cut
}

// firstWord returns the length of the first word of a text, with the space after it.
func firstWord(text string) int {
	var before rune
	for i, r := range text {
		if i > 0 && begins(before, r) {
			return i
		}
		before = r
	}
	return len(text)
}

// lastWord returns the length of the last word of a text, with the space after it.
func lastWord(text string) int {
	end := len(text)
	r, n := utf8.DecodeLastRuneInString(text)
	for end -= n; end > 0; end -= n {
		var before rune
		before, n = utf8.DecodeLastRuneInString(text[:end])
		if begins(before, r) {
			break
		}
		r = before
	}
	return len(text) - end
}

// begins reports whether r begins a word after another character. In scripts without spaces a
// letter is a word.
func begins(before, r rune) bool {
	return isWord(r) || (isWord(before) || unicode.IsSpace(before)) && !unicode.IsSpace(r)
}

// isWord reports whether r is a letter of a script without spaces.
func isWord(r rune) bool {
	return r > unicode.MaxLatin1 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Khmer, unicode.Lao, unicode.Myanmar)
}
