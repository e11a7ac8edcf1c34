package observers

// SetInlinkRows sets how many link rows a run reads of a cluster, until the test ends.
func SetInlinkRows(t interface{ Cleanup(func()) }, n int) {
	before := inlinkRows
	inlinkRows = n
	t.Cleanup(func() { inlinkRows = before })
}

// SetMaxPasses sets how many clusters may be counted at a time, until the test ends.
func SetMaxPasses(t interface{ Cleanup(func()) }, n int) {
	before := maxPasses
	maxPasses = n
	t.Cleanup(func() { maxPasses = before })
}

// SetGiantMembers sets from how many members on a cluster is not read whole, until the
// test ends.
func SetGiantMembers(t interface{ Cleanup(func()) }, n int) {
	before := giantMembers
	giantMembers = n
	t.Cleanup(func() { giantMembers = before })
}

// SummarySizes are those of the sections of such a cluster, see sectionwrite.go.
type SummarySizes struct{ Most, Cut, Least, Read, Run int }

// SetSummarySizes sets them until the test ends.
func SetSummarySizes(t interface{ Cleanup(func()) }, s SummarySizes) {
	before := SummarySizes{sectionMost, sectionCut, sectionLeast, sectionRead, sectionRun}
	set := func(s SummarySizes) {
		sectionMost, sectionCut, sectionLeast, sectionRead, sectionRun = s.Most, s.Cut, s.Least, s.Read, s.Run
	}
	set(s)
	t.Cleanup(func() { set(before) })
}

// SetShown sets how many members and anchors a document carries, and how many anchors are
// counted at a time, until the test ends.
func SetShown(t interface{ Cleanup(func()) }, members, anchors, counted int) {
	m, a, c := shownMembers, shownAnchors, countedAnchors
	shownMembers, shownAnchors, countedAnchors = members, anchors, counted
	t.Cleanup(func() { shownMembers, shownAnchors, countedAnchors = m, a, c })
}
