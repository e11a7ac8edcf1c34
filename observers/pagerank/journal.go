package pagerank

import "iter"

// Overlay lays a journal over stored states: it yields the state of each node as the last
// run left it, whatever part of its journal has been applied. That is the state in the
// journal if the node is there, and the stored state otherwise; nodes without edges are
// left out. Both sequences ascend by node, and so does the result. If either sequence
// yields an error, that error is the last element.
func Overlay(stored, journal iter.Seq2[Change, error]) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		next, stop := iter.Pull2(journal)
		defer stop()
		change, err, more := next()
		// take yields the next change of the journal and reports whether to go on.
		take := func() bool {
			if err != nil || !change.gone() {
				if !yield(change, err) || err != nil {
					return false
				}
			}
			change, err, more = next()
			return true
		}
		for c, failed := range stored {
			for failed == nil && more && (err != nil || change.Node < c.Node) {
				if !take() {
					return
				}
			}
			if failed == nil && more && change.Node == c.Node {
				continue // the journal's comes next
			}
			if !yield(c, failed) || failed != nil {
				return
			}
		}
		for more {
			if !take() {
				return
			}
		}
	}
}
