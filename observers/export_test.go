package observers

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
