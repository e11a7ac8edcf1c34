package index

import (
	"cmp"
	"slices"

	"github.com/webindexer/indexer/index/analysis"
)

// Folding. Versions and translations of one page are one result: the page that is wanted
// most likely, with the others listed under it ([Hit].Also). Every document stays in the
// index and can be found; only a result that shows one of them does not repeat itself.
//
// The search decides this for the candidates of a query, from what is stored with each
// document. So it depends on no order in which pages arrived, and a query that names a
// version, or a language, gets that one. (Decision 32 has the alternatives.)
//
// Candidates are taken from the best to the worst. Those that are alike the best one are
// its group. The group shows the member that is wanted most, and keeps what is alike that
// member; the others remain candidates. Everything in a group is thus compared with what is
// shown, and a chain of pages, each a little different from the one before, never becomes
// one result.

// foldShare is the share of the best score of a group that a version needs to be shown
// instead: if a query fits one version far better than the others, it asks for that one.
// The scores of translations say little, because their words differ. One in the language of
// the query needs only all the words.
const foldShare = 0.6

// Also is a page that is folded into a hit: another version of it, or a translation.
type Also struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	// Label tells it from the hit: its version, its language, or both.
	Label string `json:"label,omitempty"`
}

// fold makes one result of each group of candidates that are alike, and returns the
// results, best first. Candidates alike a result of above are folded into that.
func (s *search) fold(above, list []candidate) []candidate {
	list = s.foldInto(above, list)
	groups := groupsOf(list)
	taken := make([]bool, len(list))
	out := make([]candidate, 0, len(list))
	for i := range list {
		if taken[i] {
			continue
		}
		group := groups[groupKey{list[i].key.host, list[i].key.path}]
		best := i
		for _, j := range group {
			if !taken[j] && list[i].alike(&list[j]) && s.mayReplace(&list[j], &list[i]) && s.preferred(&list[j], &list[best]) < 0 {
				best = j
			}
		}
		shown := list[best]
		taken[best] = true
		if best != i {
			shown.placeOf = &list[i]
		}
		for _, j := range group {
			if !taken[j] && shown.alike(&list[j]) {
				taken[j] = true
				s.take(&shown, list[j])
			}
		}
		if shown.folded != nil {
			slices.SortStableFunc(*shown.folded, func(a, b candidate) int { return s.preferred(&a, &b) })
		}
		out = append(out, shown)
	}
	return out
}

// foldInto folds candidates into the results of the tier above, and returns the others.
func (s *search) foldInto(above, list []candidate) []candidate {
	groups := groupsOf(above)
	kept := make([]candidate, 0, len(list))
	for _, c := range list {
		group := groups[groupKey{c.key.host, c.key.path}]
		if i := slices.IndexFunc(group, func(i int) bool { return above[i].alike(&c) }); i >= 0 {
			s.take(&above[group[i]], c)
		} else {
			kept = append(kept, c)
		}
	}
	return kept
}

// groupKey is what candidates must share to be alike.
type groupKey struct{ host, path string }

// groupsOf are the places of candidates in a list, in order.
func groupsOf(list []candidate) map[groupKey][]int {
	groups := make(map[groupKey][]int, len(list))
	for i := range list {
		k := groupKey{list[i].key.host, list[i].key.path}
		groups[k] = append(groups[k], i)
	}
	return groups
}

// take folds a candidate into another one.
func (s *search) take(into *candidate, c candidate) {
	if into.folded == nil {
		into.folded = new([]candidate)
	}
	*into.folded = append(*into.folded, c)
	s.res.Folded++
}

// alike reports whether two pages are versions or translations of one page. The titles of
// translations differ, so their addresses have to name the languages.
func (c *candidate) alike(o *candidate) bool {
	a, b := c.key, o.key
	if a.host != b.host || a.path != b.path {
		return false
	}
	if a.language != b.language && !sameLanguage(c.language, o.language) {
		return a.version.text == b.version.text || a.version.text == "" || b.version.text == "" || !a.numbered && !b.numbered
	}
	return a.title == b.title
}

// mayReplace reports whether a candidate may be shown in the place of the best of its group.
func (s *search) mayReplace(c, best *candidate) bool {
	return c.score >= foldShare*best.score || c.allWords && s.speaks(c) && !s.speaks(best)
}

// preferred compares candidates that are alike. It is negative if a is the one to show.
func (s *search) preferred(a, b *candidate) int {
	named := func(c *candidate) (best int) {
		for i := range s.versions {
			best = max(best, c.key.version.answers(&s.versions[i]))
		}
		return best
	}
	x, y := named(a), named(b)
	if x == y && x > 0 {
		return cmp.Or(compareBool(s.speaks(a), s.speaks(b)), cmp.Compare(b.score, a.score), cmp.Compare(a.url, b.url))
	}
	return cmp.Or(
		cmp.Compare(y, x),
		compareBool(s.speaks(a), s.speaks(b)),
		a.key.version.newer(&b.key.version),
		cmp.Compare(b.score, a.score),
		cmp.Compare(a.url, b.url),
	)
}

// speaks reports whether a document is known to be in the language of the query.
func (s *search) speaks(c *candidate) bool {
	return s.language != "" && sameLanguage(c.language, s.language)
}

// alsoOf lists what is folded into a hit.
func (c *candidate) alsoOf() []Also {
	if c.folded == nil {
		return nil
	}
	var list []Also
	for _, o := range *c.folded {
		label := o.key.version.text
		if !sameLanguage(o.language, c.language) {
			if label == c.key.version.text {
				label = ""
			}
			if label != "" {
				label += ", "
			}
			label += o.language
		}
		list = append(list, Also{string(o.url), o.title, label})
	}
	return list
}

// sameLanguage compares two languages without their regions.
func sameLanguage(a, b string) bool {
	return analysis.PrimaryLanguage(a) == analysis.PrimaryLanguage(b)
}
