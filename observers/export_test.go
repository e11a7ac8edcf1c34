package observers

// SetInlinkRows sets how many link rows a run reads of a cluster, until the test ends.
func SetInlinkRows(t interface{ Cleanup(func()) }, n int) {
	before := inlinkRows
	inlinkRows = n
	t.Cleanup(func() { inlinkRows = before })
}
