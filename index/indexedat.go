package index

import "time"

// Only the writer knows since when a document can be found, and it knows only at the end of
// a transaction. So it writes this time last, for all documents that the transaction adds.
//
// A document is a cluster, and a cluster has one content: when a page changes, the document
// of its new content is added, and that of the old content is removed (apply.go, rule 3).
// So the content of a row can be found since the row was added, and nothing that happens to
// the row later (another anchor, rank, fetch time or canonical URL) changes that. A content
// that was removed and comes back is added again. The stored time is too early by the
// duration of the COMMIT.
//
// It is wall-clock time of this machine and does not depend on any document: two indexes
// of the same fetches differ in it, and nothing is compared or decided by it.

// addedRow records that the transaction adds a document. Ids ascend, so the lowest one
// suffices.
func (t *tables) addedRow(id int64) {
	if t.firstAdded == 0 {
		t.firstAdded = id
	}
}

// setIndexedAt dates the documents that the transaction has added.
func (t *tables) setIndexedAt(now time.Time) error {
	if t.firstAdded == 0 {
		return nil
	}
	first := t.firstAdded
	t.firstAdded = 0
	return t.exec("UPDATE times SET indexed=? WHERE id>=?", packTime(now), first)
}
