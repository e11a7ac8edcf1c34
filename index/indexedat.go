package index

import "time"

// The time since which a document can be found is known only to the writer, and only at the
// end of a transaction. So it is written last, for all documents that the transaction adds.
//
// A document is a cluster, and a cluster is a content: when a page changes, the document of
// its new content is added, and that of the old content is removed (apply.go, rule 3). So
// the time at which a row was added is the time since which its content can be found, and
// nothing that happens to the row later (another anchor, rank, fetch time or canonical URL)
// changes it. A content that was removed and comes back is added again. The stored time is
// too early by the duration of the COMMIT.
//
// It is wall-clock time of this machine and not derived from any document: two indexes of
// the same fetches differ in it, and nothing is compared or decided by it.

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
