package index

import (
	"fmt"
	"time"
)

// FTS5 writes each transaction as a segment, and merges the segments of a level into one of
// the next level. Queries look into all segments, and each merge writes the entries of its
// documents again. With the default of four segments, merging was more than half of the
// work of the writer in a crawl. So
//
//  - while changes arrive, sixteen segments of a level are merged into one, little by
//    little as changes are written (automerge). A whole level is merged at once only if
//    that could not keep up (crisismerge), which it can;
//  - after a pause without changes, levels are merged down to fewer than four segments
//    (usermerge), in transactions of some ten milliseconds. A change that arrives meanwhile
//    waits for at most one of them. The pause is longer than the gaps between the exports
//    of a load: with 200 ms instead of 2 s, a load of 6,710 pages merged in these gaps, and
//    the writer took a fifth more processor time.
//
// A crash leaves segments unmerged and nothing worse; they are merged in the next pause.

var mergeSettings = []struct {
	name  string
	value int
}{{"automerge", 16}, {"crisismerge", 64}, {"usermerge", 4}}

// setMerging stores the settings, if they are not stored yet.
func (t *tables) setMerging() error {
	for _, s := range mergeSettings {
		var stored int
		if _, err := t.row("SELECT v FROM fts_config WHERE k=?", []any{s.name}, &stored); err != nil {
			return fmt.Errorf("settings of the full-text table: %w", err)
		}
		if stored == s.value {
			continue
		}
		if err := t.exec("INSERT INTO fts(fts, rank) VALUES(?,?)", s.name, s.value); err != nil {
			return fmt.Errorf("set %s of the full-text table: %w", s.name, err)
		}
	}
	return nil
}

const (
	// quiet is the pause without changes after which merging begins.
	quiet = time.Second
	// mergePages is about how many pages of 4 KB one merge transaction writes.
	mergePages = 64
)

// merge does a part of the merging, and reports whether there is more.
func (t *tables) merge() (more bool, err error) {
	before, err := t.totalChanges()
	if err != nil {
		return false, err
	}
	if err := t.exec("INSERT INTO fts(fts, rank) VALUES('merge', ?)", mergePages); err != nil {
		return false, fmt.Errorf("merge segments of the full-text table: %w", err)
	}
	after, err := t.totalChanges()
	return err == nil && after-before >= 2, err // according to the documentation of FTS5's merge
}

func (t *tables) totalChanges() (n int64, err error) {
	_, err = t.row("SELECT total_changes()", nil, &n)
	return n, err
}
