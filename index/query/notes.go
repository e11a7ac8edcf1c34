package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/webindexer/indexer/index/analysis"
)

// Notes point out operators that other search engines have and this one does not. The
// query is still answered: what is not an operator is a word.

// note adds a note, once.
func (p *parser) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); len(p.notes) < maxNotes && !slices.Contains(p.notes, n) {
		p.notes = append(p.notes, n)
	}
}

// noteIfNothing adds a note, once, that only a search without results shows.
func (p *parser) noteIfNothing(n string) {
	if !slices.Contains(p.ifNothing, n) {
		p.ifNothing = append(p.ifNothing, n)
	}
}

// maxNotes bounds the notes of a query.
const maxNotes = 5

// noteWord notes words that are operators elsewhere.
func (p *parser) noteWord(c *clause) {
	switch {
	case c.text == "NOT":
		p.note("NOT is read as a word; to exclude pages, write -word.")
	case c.text == "AND":
		p.note("AND is read as a word. It is not needed: a search looks for all words.")
	case len(c.text) > 1 && strings.HasSuffix(c.text, "*"):
		p.note("There are no wildcards: %s is read without *. A word finds its other forms.", shorten(c.text))
	}
}

// noteOperator notes an operator that does not exist here.
func (p *parser) noteOperator(name, value string) {
	if instead := foreignOperators[name]; instead != "" && value != "" && !strings.HasPrefix(value, "//") {
		p.note("There is no operator %s:, so it is read as a word; %s.", name, instead)
	}
}

// foreignOperators has operators of other search engines, and what to use instead.
var foreignOperators = map[string]string{
	"allintitle": "write intitle:(some words)", "title": "write intitle:",
	"allinurl": "write inurl:(some words)", "url": "write inurl:",
	"intext": "leave it out", "allintext": "leave it out", "inbody": "leave it out",
	"inanchor": "the anchors of links to a page count in every search", "allinanchor": "the anchors of links to a page count in every search",
	"host": "write site:", "domain": "write site:", "hostname": "write site:",
	"language": "write lang:", "mime": "write filetype:", "type": "write filetype:",
	"daterange": "write after: and before:", "date": "write after: and before:", "since": "write after:", "until": "write before:",
	"link": "indexer inspect URL lists the pages that link to one", "linkto": "indexer inspect URL lists the pages that link to one",
	"cache": "results link to the stored copy", "info": "indexer inspect URL shows what is known about one",
	"related": "nothing replaces it",
}

// shorten returns a text of a query as short as a note shows it.
func shorten(text string) string {
	if short := analysis.Truncate(text, 40); short != text {
		return short + "…"
	}
	return text
}
