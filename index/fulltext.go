package index

import (
	"maps"
	"slices"

	"indexer/index/analysis"
)

// FTS5 gathers the entries of a transaction in memory and writes them as one
// segment, which costs far less than one segment a document, to write now and to merge
// later. It writes early when it must, so the writer sees to it that it need not:
//
//  1. Row ids reach it in ascending order; a lower one than the last makes it write.
//     Therefore full-text changes wait in tables.fullText until the commit.
//  2. No statement of the transaction opens a statement savepoint; each makes every
//     virtual table write. INSERT … RETURNING does, and what inserts or updates
//     several rows. Therefore ids are given out by us.
//
// With INSERT … RETURNING a half of the CPU of bulk indexing went into early writes.

// flushFullText hands over what the transaction changed of the full-text table.
func (t *tables) flushFullText() error {
	if err := t.flushLengths(); err != nil { // first: see 2
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(t.fullText)) {
		if err := t.putColumns(id, t.fullText[id]); err != nil {
			return err
		}
	}
	clear(t.fullText)
	return nil
}

// putColumns replaces the full-text entry of a document; nil removes it.
func (t *tables) putColumns(id int64, c *analysis.Columns) error {
	if c == nil {
		return t.exec("DELETE FROM fts WHERE rowid=?", id)
	}
	return t.exec("INSERT OR REPLACE INTO fts(rowid, title, body, anchors, outside, url, tags) VALUES(?,?,?,?,?,?,?)",
		id, c.Title, c.Body, c.Anchors, c.Outside, c.URL, c.Tags)
}
