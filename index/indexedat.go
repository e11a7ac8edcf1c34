package index

import "time"

// Since when a document can be found is known to the writer alone, and only at the end
// of a transaction: so it is put down last, with all that is new in it.
//
// A document is a cluster, and a cluster is a content: when a page changes, the document
// of its new content is added, and that of the old one goes (apply.go, rule 3). So the time
// at which a row was added is the time since which what it says can be found, and
// nothing that happens to the row later (another anchor, rank, time, or canonical URL)
// moves it. A content that went and comes back is added again. It is short of the truth
// by the time that COMMIT takes.
//
// It is a wall time of this machine, read from no document: two indexes of the same
// fetches differ in it, and nothing is compared or decided by it.

// bear remembers that the transaction adds a document. Ids ascend, so the lowest tells
// all of them.
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
