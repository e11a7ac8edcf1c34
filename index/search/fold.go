package search

import (
	"cmp"
	"context"
	"slices"

	"github.com/webindexer/indexer/index/analysis"
)

// Folding. Versions and translations of one page, and pages that say nearly the same, are
// one result: the page that the user most likely wants, with the others listed under it
// ([Hit].Also). Every document stays in the index and can be found, but a result that shows
// one of them does not repeat itself.
//
// The search decides this for the candidates of a query, from what is stored with each
// document. So it does not depend on the order in which pages arrived, and a query that
// names a version or a language gets that one. (Decision 32 has the alternatives.)
//
// Candidates are taken from the best to the worst. Those that the best one covers (alike.go)
// are its group. The group shows the member that the user most likely wants, and keeps what
// that member covers; the others remain candidates. So everything in a group is compared
// with what the group shows, and a chain of pages, each a little different from the page
// before it, never becomes one result.

// foldShare is the share of the best score of a group that a version needs to be shown
// instead: if a query fits one version far better than the others, it asks for that
// version. The scores of translations say little, because their words differ. A translation
// into the language of the query needs only all the words.
const foldShare = 0.6

// Also is a page that is folded into a hit: another version of it, a translation, or a page
// that says nearly the same.
type Also struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	// Label distinguishes it from the hit: its version, its language, or both.
	Label string `json:"label,omitempty"`
	// Similar says that only the main contents show that it belongs to the hit: they are
	// nearly the same. Neither its address nor the pages that it names as its translations
	// show that it is a version or a translation.
	Similar bool `json:"similar,omitempty"`
}

// readAndFold does what fold does, for candidates of which only the row has been read. With
// Unfold, it does nothing.
func (s *search) readAndFold(ctx context.Context, above, list []candidate) ([]candidate, error) {
	if len(list) == 0 || s.opts.Unfold {
		return list, nil
	}
	if err := s.from.sketches(ctx, list); err != nil {
		return nil, err
	}
	return s.fold(above, list), nil
}

// fold makes one result of each group of candidates that are alike, and returns the
// results, best first. Candidates that a result of above covers are folded into that result.
//
// It compares each shown candidate with all that are left. These are a few thousand
// comparisons of some ten nanoseconds: nearly all pairs differ in the hash of their address
// and in the first bins of their sketches.
func (s *search) fold(above, list []candidate) []candidate {
	readWaiting(above, list)
	list = foldInto(above, list)
	taken := make([]bool, len(list))
	out := make([]candidate, 0, len(list))
	for i := range list {
		if taken[i] {
			continue
		}
		best := i
		for j := i + 1; j < len(list); j++ {
			if !taken[j] && s.mayReplace(&list[j], &list[i]) && s.preferred(&list[j], &list[best]) < 0 {
				best = j
			}
		}
		shown := list[best]
		taken[best] = true
		if best != i {
			shown.placeOf = &list[i]
		}
		for j := i; j < len(list); j++ {
			if !taken[j] && shown.covers(&list[j]) {
				taken[j] = true
				take(&shown, list[j])
			}
		}
		slices.SortStableFunc(shown.hidden(), func(a, b candidate) int { return s.preferred(&a, &b) })
		out = append(out, shown)
	}
	return out
}

// foldInto folds candidates into the results of the tier above, and returns the others.
func foldInto(above, list []candidate) []candidate {
	if len(above) == 0 {
		return list
	}
	kept := make([]candidate, 0, len(list))
	for _, c := range list {
		if i := slices.IndexFunc(above, func(a candidate) bool { return a.covers(&c) }); i >= 0 {
			take(&above[i], c)
		} else {
			kept = append(kept, c)
		}
	}
	return kept
}

// take folds a candidate into this one.
func take(into *candidate, c candidate) {
	if into.folded == nil {
		into.folded = new([]candidate)
	}
	*into.folded = append(*into.folded, c)
}

// hidden returns what is folded into a candidate.
func (c *candidate) hidden() []candidate {
	if c.folded == nil {
		return nil
	}
	return *c.folded
}

// countFolded counts what is folded into the results.
func countFolded(results []candidate) (n int) {
	for i := range results {
		n += len(results[i].hidden())
	}
	return n
}

// mayReplace reports whether a candidate may be shown instead of one with a better score:
// they are versions or translations of one page. Of other pages that say the same, the
// best is shown.
func (s *search) mayReplace(c, best *candidate) bool {
	if c.score < foldShare*best.score && !(c.allWords && s.speaks(c) && s.preferredLanguage(c, best) < 0) {
		return false
	}
	return c.alike(best) || c.otherVersion(best) && c.saysTheSame(best)
}

// preferred compares candidates that are alike. It is negative if a is the one to show. Addresses may write
// the version that the query names in several ways, so their numbers do not order these pages. Those of its
// releases do.
func (s *search) preferred(a, b *candidate) int {
	x, _ := s.askedFor(a)
	y, _ := s.askedFor(b)
	if x == y && x == 2 {
		return cmp.Or(s.preferredLanguage(a, b), cmp.Compare(b.score, a.score), cmp.Compare(a.url, b.url))
	}
	return cmp.Or(
		cmp.Compare(y, x),
		s.preferredLanguage(a, b),
		a.key.version.newer(&b.key.version),
		cmp.Compare(b.score, a.score),
		cmp.Compare(a.url, b.url),
	)
}

// askedFor says how well the version of a candidate answers the version that the query
// names ([pageVersion.answers]), and which of several versions that is.
func (s *search) askedFor(c *candidate) (best int, asked *pageVersion) {
	for i := range s.versions {
		if n := c.key.version.answers(&s.versions[i]); n > best {
			best, asked = n, &s.versions[i]
		}
	}
	return best, asked
}

// preferredLanguage compares candidates by the language of the page, and then by the language
// that its address names. A page that waits for its translation has a text in another language
// than its address names.
func (s *search) preferredLanguage(a, b *candidate) int {
	if s.language == "" {
		return 0
	}
	named := func(c *candidate) bool { return c.key.language == "" || sameLanguage(c.key.language, s.language) }
	return cmp.Or(compareBool(s.speaks(a), s.speaks(b)), compareBool(named(a), named(b)))
}

// speaks reports whether a document is known to be in the language of the query.
func (s *search) speaks(c *candidate) bool {
	return s.language != "" && sameLanguage(c.language, s.language)
}

// tell returns what distinguishes a page that is folded into a hit from that hit: its version, its
// language, or both. A page that waits for its translation, or whose language is unknown, has the
// language of its address.
func (c *candidate) tell(o *candidate) string {
	language := ""
	switch a, b := c.key.language, o.key.language; {
	case !sameLanguage(o.language, c.language):
		language = cmp.Or(o.language, analysis.PrimaryLanguage(b))
	case a != "" && b != "" && !sameLanguage(a, b):
		language = analysis.PrimaryLanguage(b)
	}
	version := o.key.version.text
	switch {
	case language == "":
		return version
	case version == "" || version == c.key.version.text:
		return language
	}
	return version + ", " + language
}

// alsoOf lists what is folded into a hit.
func (c *candidate) alsoOf() []Also {
	var list []Also
	hidden := c.hidden()
	for i := range hidden {
		o := &hidden[i]
		list = append(list, Also{URL: string(o.url), Title: o.title, Label: c.tell(o), Similar: !c.alike(o)})
	}
	return list
}
