package index

// Who asks for a version wants that one. Pages of other versions differ from it in little else, so they
// have the words as well. If candidates are of a version that the query names, those of other versions
// count half, and its releases a little less: "new in 2.4" asks for 2.4 or 2.4.0 rather than for 2.4.7. A
// page that names no version may hold for all of them, and a date is no version.

const (
	otherVersion = 0.5
	itsRelease   = 0.7
)

// preferVersion makes candidates of other versions than those that the query names count less.
func (s *search) preferVersion(list []candidate) {
	if len(s.versions) == 0 {
		return
	}
	answered := false
	for i := range list {
		c := &list[i]
		best, _ := s.askedFor(c)
		answered = answered || best > 0
		c.versionFactor = 1
		switch {
		case len(c.key.version.numbers) == 0 || c.key.isDate() || best == 2:
		case best == 1:
			c.versionFactor = itsRelease
		default:
			c.versionFactor = otherVersion
		}
	}
	for i := range list {
		if c := &list[i]; answered {
			c.score *= c.versionFactor
		} else {
			c.versionFactor = 0
		}
	}
	sortCandidates(list)
}
