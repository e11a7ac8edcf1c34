package search

import "strings"

// # Named sites
//
// If several sites are indexed, people say which site they mean: "widget upload file". Few pages of
// widget.org have its name in their titles, so pages of other sites that are called "Uploading
// files", and reference pages of the same site whose titles repeat its name, would come first. So if
// some words are the name of a candidate's host, and there are other words:
//
//   - the title of each page of that host counts as having the name. This changes only titles that
//     lack it;
//   - pages of other hosts that lack a word of the query count less. A page that has them all stays:
//     it may be about that site.
//
// A query of two words is left to the titles alone ("widget partitions"): with the name, all titles
// of the site would agree with half of it.

const (
	// namedLeast is the least number of words of a query for which the name of a site is looked for.
	namedLeast = 3
	// unnamedFactor is the factor for a page of another site. The results with a half and a
	// seventh differ by less than .006.
	unnamedFactor = 0.3
)

// findNamed finds the names of the candidates' hosts in the query.
func (s *search) findNamed(list []candidate) {
	s.named = make(map[string][]nameWord)
	if len(s.c.Words) < namedLeast {
		return
	}
	for host := range hostsOf(list) {
		if from, to, ok := nameIn(s.c.Words, host); ok && to-from < len(s.c.Words) {
			var name []string
			for _, w := range s.c.Words[from:to] {
				name = append(name, w.Typed)
			}
			s.named[host] = nameWords(strings.Join(name, " "), "")
		}
	}
}

// preferNamed lowers the scores of pages of other sites than the query names, if they lack a word.
func (s *search) preferNamed(list []candidate) {
	if len(s.named) == 0 {
		return
	}
	for i := range list {
		c := &list[i]
		if c.siteFactor = 1; c.partial && s.named[HostOf(c.url)] == nil {
			c.siteFactor = unnamedFactor
			c.score *= unnamedFactor
		}
	}
	sortCandidates(list)
}
