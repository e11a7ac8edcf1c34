package repository

// KeepsCounts reports whether Stats would answer without a scan.
func (r *Repository) KeepsCounts() bool { return r.present() != nil }

// FalsifyCounts makes the counts that are kept wrong.
func (r *Repository) FalsifyCounts() {
	k := *r.present()
	k.counts.Links++
	r.kept.Store(&k)
}
