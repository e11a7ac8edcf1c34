package search

import (
	"strings"
	"unicode"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
)

// A query has a language, but does not state it. Many of its words are words of several
// languages, or names that appear in the pages of all of them. So the search assumes the
// language of the reader ([Options].Language), unless the query itself says otherwise:
//
//   - lang: decides alone.
//   - A query with letters of another script finds pages in its language anyway.
//   - Words such as "und" or "pour" that join others show the language, unless they are
//     also such words in the reader's language.
//   - If no document in the reader's language has all the words, the query is not in it.
//
// A page in another language than the query then counts less (otherLanguage). It is still
// found, and still first if it fits far better, as a page does whose title is the query.

// otherLanguage is the factor for a document in another language than the query.
const otherLanguage = 0.3

// queryLanguage returns the language that a query is assumed to be in, or "" if nothing can be
// said.
func queryLanguage(c *query.Query, reader string) string {
	if reader == "" || strings.Contains(strings.ToLower(c.Text), "lang:") {
		return ""
	}
	words := make(map[string]bool)
	for _, t := range c.Terms {
		for _, r := range t.Text {
			if r > unicode.MaxLatin1 && unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) {
				return ""
			}
		}
		for _, w := range t.Sequences[0] {
			words[w] = true
		}
	}
	return analysis.LanguageOf(words, reader)
}

// preferLanguage makes candidates in other languages than the query's count less. If no
// candidate is in the query's language, it changes nothing.
func (s *search) preferLanguage(list []candidate) {
	if s.language == "" {
		return
	}
	other := func(c *candidate) bool { return c.language != "" && !sameLanguage(c.language, s.language) }
	known, others := 0, 0
	for i := range list {
		if c := &list[i]; c.language != "" {
			known++
			if other(c) {
				others++
			}
		}
	}
	if others == 0 || others == known {
		return
	}
	for i := range list {
		if other(&list[i]) {
			list[i].score *= otherLanguage
			list[i].otherLanguage = true
		}
	}
	sortCandidates(list)
}
