package index

import (
	"maps"
	"slices"

	"github.com/webindexer/indexer/index/analysis"
)

// FTS5 collects the entries of a transaction in memory and writes them as one segment,
// which costs far less than one segment per document, both now and when segments are
// merged. It writes early if it has to. The writer makes sure that FTS5 never has to:
//
//  1. Row ids reach FTS5 in ascending order: an id below the last one makes it write.
//     Therefore full-text changes wait in tables.fullText until the commit.
//  2. No statement of the transaction opens a statement savepoint, since each savepoint
//     makes every virtual table write. INSERT … RETURNING opens one, and so does a
//     statement that inserts or updates several rows. Therefore newID allocates the ids.
//
// With INSERT … RETURNING, early writes took half of the CPU of bulk indexing.

// flushFullText writes the changes of the transaction to the full-text table.
func (t *tables) flushFullText() error {
	if err := t.flushLengths(); err != nil { // before any row of fts: see rule 2
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
	return t.exec("INSERT OR REPLACE INTO fts(rowid, title, body, anchors, outside, url, rest, tags) VALUES(?,?,?,?,?,?,?,?)",
		id, c.Title, c.Body, c.Anchors, c.Outside, c.URL, c.Rest, c.Tags)
}
