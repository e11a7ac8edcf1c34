package snippet

import (
	"cmp"
	"slices"

	"github.com/webindexer/indexer/index/analysis"
)

// Heading is a heading of a page that has terms of the query.
type Heading struct {
	Place int // in the list of headings
	Terms int // how many terms it has that the title of the page lacks
	// Complete reports whether title and heading together have all the terms.
	Complete bool
}

// Headings finds the headings that have terms which the title lacks, best first: more terms,
// then fewer other letters, then the order of the page. It finds none if the title has all
// the terms, because then the user asks for the page as a whole.
func Headings(title string, headings []string, m *matcher) (list []Heading) {
	if len(headings) == 0 || m.terms == 0 {
		return nil
	}
	m.begin()
	defer m.end()
	have := make([]bool, m.terms)
	missing := m.terms - m.mark(title, have)
	if missing == 0 {
		return nil
	}
	both := make([]bool, m.terms)
	for i, heading := range headings {
		copy(both, have)
		if n := m.mark(heading, both); n > 0 {
			list = append(list, Heading{i, n, n == missing})
		}
	}
	slices.SortStableFunc(list, func(a, b Heading) int {
		return cmp.Or(cmp.Compare(b.Terms, a.Terms), cmp.Compare(len(headings[a.Place]), len(headings[b.Place])))
	})
	return list
}

// mark sets the terms that a text has, and returns how many of them were not set before.
func (m *matcher) mark(text string, terms []bool) (added int) {
	matches, _ := bestWindow(analysis.Normalize(text), m)
	for _, found := range matches {
		if !terms[found.term] {
			terms[found.term] = true
			added++
		}
	}
	return added
}
