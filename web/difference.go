package web

import (
	"strings"
	"unicode"

	"github.com/pmezard/go-difflib/difflib"
)

// maxCompared is how many words are compared between the first and the last difference of two
// texts. The comparison of hostile texts can take more than quadratic time.
const maxCompared = 2000

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
// were not compared to their ends.
func differences(was, is string) (old, now []fragment, cut bool) {
	a, b := wordsOf(was), wordsOf(is)
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	both := func(equal []fragment) { old, now = append(old, equal...), append(now, equal...) }
	if head == len(a) && head == len(b) {
		both(nearby(a, false, false))
		return old, now, false
	}
	if head > 0 {
		both(nearby(a[:head], false, true))
	}
	end := a[len(a)-tail:]
	a, b = a[head:len(a)-tail], b[head:len(b)-tail]
	if cut = len(a) > maxCompared || len(b) > maxCompared; cut {
		a, b, end = a[:min(len(a), maxCompared)], b[:min(len(b), maxCompared)], nil
	}
	for _, c := range difflib.NewMatcher(a, b).GetOpCodes() {
		if c.Tag == 'e' {
			both(nearby(a[c.I1:c.I2], true, true))
			continue
		}
		old, now = append(old, changed(a[c.I1:c.I2])...), append(now, changed(b[c.J1:c.J2])...)
	}
	if len(end) > 0 {
		both(nearby(end, true, false))
	}
	return old, now, cut
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

// nearby returns the words of an equal part that are near a change before or after it.
func nearby(words []string, before, after bool) []fragment {
	head, tail := 0, 0
	if before {
		head = nearWords
	}
	if after {
		tail = nearWords
	}
	left := len(words) - head - tail
	if left < nearWords { // leaving out less would save little
		return []fragment{{Text: strings.Join(words, "")}}
	}
	var list []fragment
	if head > 0 {
		list = append(list, fragment{Text: strings.Join(words[:head], "")})
	}
	list = append(list, fragment{Left: left})
	if tail > 0 {
		list = append(list, fragment{Text: strings.Join(words[len(words)-tail:], "")})
	}
	return list
}

// wordsOf divides a text into words, each with the space after it. In scripts without spaces a
// letter is a word.
func wordsOf(text string) []string {
	var words []string
	start, spaced := 0, false
	for i, r := range text {
		alone := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Khmer, unicode.Lao, unicode.Myanmar)
		if i > start && (alone || spaced && !unicode.IsSpace(r)) {
			words = append(words, text[start:i])
			start = i
		}
		spaced = alone || unicode.IsSpace(r)
	}
	if start < len(text) {
		words = append(words, text[start:])
	}
	return words
}
