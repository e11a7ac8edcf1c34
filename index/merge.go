package index

import (
	"fmt"
	"time"
)

// FTS5 keeps what each transaction wrote as a segment, and merges segments of one
// level into one of the next. Queries look into all segments; each merge writes its
// documents' entries again. With FTS5's default of four segments, merging was more
// than half of the writer's work in a crawl. So
//
//   - while changes come, sixteen segments of a level are merged into one, little by
//     little as changes are written (automerge). A level is merged at one go only if
//     this could not keep up (crisismerge), which it can;
//   - when none came for a moment, levels are merged down to fewer than four segments
//     (usermerge), in transactions of some ten milliseconds; a change that comes
//     meanwhile waits for one of them at most.
//
// A crash leaves segments unmerged, nothing worse: the next pause merges them.

var mergeSettings = []struct {
	name  string
	value int
}{{"automerge", 16}, {"crisismerge", 64}, {"usermerge", 4}}

// setMerging stores the settings, if they are not stored already.
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
	// quiet is how long no change has come when merging begins.
	quiet = 200 * time.Millisecond
	// mergePages is how many pages of some 4 KB one transaction of it writes, about.
	mergePages = 64
)

// merge does a part of the merging that is left, and reports whether there is more.
func (t *tables) merge() (more bool, err error) {
	before, err := t.totalChanges()
	if err != nil {
		return false, err
	}
	if err := t.exec("INSERT INTO fts(fts, rank) VALUES('merge', ?)", mergePages); err != nil {
		return false, fmt.Errorf("merge segments of the full-text table: %w", err)
	}
	after, err := t.totalChanges()
	return err == nil && after-before >= 2, err // as the documentation of FTS5's merge says
}

func (t *tables) totalChanges() (n int64, err error) {
	_, err = t.row("SELECT total_changes()", nil, &n)
	return n, err
}
