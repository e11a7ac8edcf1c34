package txn

// AfterCommit has fn called when the transaction has committed, in the goroutine of Commit, before
// that returns. If it is not known whether the transaction has committed, or the process ends, fn
// is not called. So it is for what only this process wants to know, such as counters.
func (t *Txn) AfterCommit(fn func()) { t.after = append(t.after, fn) }

func (t *Txn) committed() {
	for _, fn := range t.after {
		fn()
	}
}
