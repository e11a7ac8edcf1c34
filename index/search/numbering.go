package search

import (
	"strings"
	"unicode"

	"github.com/webindexer/indexer/index/analysis"
)

// # Numbers of chapters
//
// A title or a heading often begins with the number of a chapter: "4.2. Tides", "Appendix B: Tides",
// "Handbook: 4.2 Tides". A user who searches for tides does not search for that number. So its words count
// only if the query has them. In anchors they count as other words do: the table of contents of a book links
// to all its chapters, which does not make a chapter the page about its subject
// (docs/ranking-experiments.md).

// chapterWords are the words before the number of a part of a book, in the languages in which many
// books are written.
var chapterWords = analysis.WordSet("annex annexe anexo anhang apéndice apêndice appendice appendix bijlage capitolo capítulo " +
	"chapitre chapter deel hoofdstuk kapitel lesson module parte part partie section sección seção sezione step teil unit abschnitt")

// numbering finds the number of a chapter at the beginning of a name, or after a colon. end is 0 if
// there is none, or nothing after it.
func numbering(text string) (start, end int) {
	for start < len(text) {
		if n := numberAt(text[start:]); n > 0 {
			return start, start + n
		}
		i := strings.Index(text[start:], ": ")
		if i < 0 {
			break
		}
		start += i + len(": ")
	}
	return 0, 0
}

// numberAt returns the length of the number of a chapter at the beginning of a text, with the word
// before it.
func numberAt(text string) int {
	first, rest := cutField(text)
	switch {
	case rest == "":
		return 0
	case isChapterNumber(first, false):
		return len(text) - len(rest)
	case !chapterWords[strings.ToLower(first)]:
		return 0
	}
	second, rest := cutField(rest)
	if rest == "" || !isChapterNumber(second, true) {
		return 0
	}
	return len(text) - len(rest)
}

// cutField divides a text after its first word and the spaces that follow.
func cutField(text string) (first, rest string) {
	i := strings.IndexFunc(text, unicode.IsSpace)
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimLeftFunc(text[i:], unicode.IsSpace)
}

// longestNumber is the greatest length of the number of a chapter.
const longestNumber = 12

// isChapterNumber reports whether a word is such a number: 3.2, 4., B.1 or IV. After the word
// "chapter", so are 4, B and IV; elsewhere they may be anything.
func isChapterNumber(s string, behindWord bool) bool {
	bare := strings.TrimRight(s, ".:)")
	if bare == "" || len(bare) > longestNumber {
		return false
	}
	dots := strings.HasSuffix(s, ".") || strings.HasSuffix(s, ")")
	for i, part := range strings.Split(bare, ".") {
		switch {
		case isNumber(part):
		case i == 0 && part != "" && (len(part) == 1 && isUpper(part) || strings.Trim(part, "IVX") == ""):
		default:
			return false
		}
		dots = dots || i > 0
	}
	return dots || behindWord
}

func isUpper(s string) bool { return s[0] >= 'A' && s[0] <= 'Z' }

// isManualSection reports whether a word of a text is the section of a manual page: 7 in "tide(7)".
func isManualSection(text string, start, end int) bool {
	return start > 1 && end < len(text) && text[start-1] == '(' && text[end] == ')' && text[start-2] != ' ' &&
		text[start] >= '1' && text[start] <= '9' && end-start <= longestSection
}

// longestSection is the greatest length of the section of a manual page, such as 3pm.
const longestSection = 4
