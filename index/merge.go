package index

import (
	"fmt"
	"time"

	"github.com/webindexer/indexer/index/postings"
)

// FTS5 writes each transaction as a segment, and merges the segments of a level into one
// segment of the next level. Queries look into all segments, and each merge writes the
// entries of its documents again. With the default of four segments, merging was more than
// half of the work of the writer in a crawl. So
//
//  - while changes arrive, sixteen segments of a level are merged into one, little by
//    little as changes are written (automerge). A whole level is merged at once only if
//    that could not keep up (crisismerge), which it can;
//  - after a pause without changes, levels are merged down to fewer than four segments
//    (usermerge), in transactions of some ten milliseconds, as far as that is cheap: see
//    worthMerging. A change that arrives meanwhile waits for at most one of them. The pause
//    is longer than the gaps between the exports of a load. With a pause of 200 ms, a load
//    of 6,710 pages merged in these gaps, and the writer took a fifth more processor time
//    than with a pause of 2 s.
//
// A crash or a full disk leaves segments unmerged and nothing worse; they are merged in the
// next pause.

var mergeSettings = []struct {
	name  string
	value int
}{{"automerge", 16}, {"crisismerge", 64}}

// setMerging stores the settings that are not stored yet.
func (t *tables) setMerging() error {
	for _, s := range mergeSettings {
		if err := t.setMerge(s.name, s.value); err != nil {
			return err
		}
	}
	return nil
}

func (t *tables) setMerge(name string, value int) error {
	var stored int
	if _, err := t.row("SELECT v FROM fts_config WHERE k=?", []any{name}, &stored); err != nil {
		return fmt.Errorf("settings of the full-text table: %w", err)
	}
	if stored == value {
		return nil
	}
	if err := t.exec("INSERT INTO fts(fts, rank) VALUES(?,?)", name, value); err != nil {
		return fmt.Errorf("set %s of the full-text table: %w", name, err)
	}
	return nil
}

const (
	// quiet is the pause without changes after which merging begins.
	quiet = time.Second
	// mergePages is about how many pages of 4 KB one merge transaction writes.
	mergePages = 64
)

const (
	// leastSegments is how many segments of a level are merged in a pause.
	leastSegments = 4
	// mostSegments is the highest value of usermerge that FTS5 allows.
	mostSegments = 16
	// pagesWorthASegment is how many pages a merge in a pause may write for each segment
	// that it saves queries.
	pagesWorthASegment = 512
)

// worthMerging decides whether a step of merging is worth its cost in a pause, by the merges that
// it would do, in order. Small segments are merged as soon as there are four: that writes little,
// and a small segment costs a query as much as a large one. Large segments wait until changes
// have filled their level. When large segments were also merged by four, in the pauses of a load
// and in the first pause of each command that followed, every document was written more often:
// that took a third of the writer's time when 6,710 responses were loaded on top of 47,000.
//
// If no level has enough segments, FTS5 looks for a segment with many deleted documents, and
// writes it again without them. So merge asks it in that case as well.
func worthMerging(next []postings.Merge) bool {
	if len(next) == 0 || next[0].Segments < leastSegments {
		return true
	}
	for _, m := range next {
		if m.Pages > pagesWorthASegment*(m.Segments-1) {
			return false
		}
	}
	return true
}

// merge does a part of the merging, and reports whether there is more.
func (t *tables) merge() (more bool, err error) {
	var structure []byte
	if _, err := t.row("SELECT block FROM fts_data WHERE id=?", []any{postings.StructureRow}, &structure); err != nil {
		return false, fmt.Errorf("segments of the full-text table: %w", err)
	}
	next, err := postings.NextMerges(structure)
	if err != nil {
		return false, fmt.Errorf("merge segments of the full-text table: %w", damaged(err))
	}
	if !worthMerging(next) {
		return false, nil
	}
	if len(next) > 0 { // so that FTS5 begins nothing else in the same step
		if err := t.setMerge("usermerge", min(max(next[0].Segments, leastSegments), mostSegments)); err != nil {
			return false, err
		}
	}
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
