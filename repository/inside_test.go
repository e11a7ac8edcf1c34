package repository

import (
	"context"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/observers"
)

// KeepsCounts reports whether Stats would answer without a scan.
func (r *Repository) KeepsCounts() bool { return r.present() != nil }

// CachesCounts reports whether Stats would scan no more than what was written since the last time.
func (r *Repository) CachesCounts() bool { return r.counted.Encode() != nil }

// Followed returns how many pages were loaded and are not known to be searchable.
func (r *Repository) Followed() int { return r.tracker.Waiting() }

// FalsifyCounts makes the counts that are kept wrong.
func (r *Repository) FalsifyCounts() {
	k := *r.present()
	k.counts.Links++
	r.kept.Store(&k)
}

// AfterRanks calls fn whenever a run has written ranks to the index files and has not committed yet.
func (r *Repository) AfterRanks(fn func()) { r.files.use(&afterRanks{r.files.current, fn}) }

type afterRanks struct {
	observers.Sink
	fn func()
}

func (a *afterRanks) SetRanks(ctx context.Context, ranks []index.RankUpdate) error {
	err := a.Sink.SetRanks(ctx, ranks)
	a.fn()
	return err
}
