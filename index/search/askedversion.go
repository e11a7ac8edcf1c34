package search

import "slices"

// A user who asks for a version wants that version. Pages of other versions differ little from its pages, so
// they also have the words. If candidates of a host are of a version that the query names, candidates of
// other versions on that host count half, and releases of the named version count a little less: "new in 2.4"
// asks for 2.4 or 2.4.0 rather than for 2.4.7. Only numbers in addresses count: a number in a title may be
// that of a chapter, "stable" and "main" are words like others, and a page without a version may hold for all
// versions.

const (
	otherVersion = 0.5
	itsRelease   = 0.7
)

// preferVersion makes candidates of other versions than those that the query names count less.
func (s *search) preferVersion(list []candidate) {
	if !slices.ContainsFunc(s.versions, func(v pageVersion) bool { return len(v.numbers) > 0 }) {
		return
	}
	answered := make(map[string]bool) // by host
	for i := range list {
		if c := &list[i]; c.key.addressed && s.answersNumber(c) > 0 {
			answered[c.key.host] = true
		}
	}
	if len(answered) == 0 {
		return
	}
	for i := range list {
		c := &list[i]
		c.versionFactor = 1
		if c.key.addressed && answered[c.key.host] {
			c.versionFactor = [...]float64{otherVersion, itsRelease, 1}[s.answersNumber(c)]
		}
		c.score *= c.versionFactor
	}
	sortCandidates(list)
}

// answersNumber says how well the version of a candidate answers a version that the query names
// by number ([pageVersion.answers]).
func (s *search) answersNumber(c *candidate) (best int) {
	for i := range s.versions {
		if v := &s.versions[i]; len(v.numbers) > 0 {
			best = max(best, c.key.version.answers(v))
		}
	}
	return best
}
