package repository

import (
	"context"
	"fmt"
	"time"

	"indexer/internal/trace"
	"indexer/page"
)

// Freshness is when a page could be found. Fields are nil where that is not known any
// more.
type Freshness struct {
	LoadedAt     *time.Time `json:"loaded_at,omitempty"`
	SearchableAt *time.Time `json:"searchable_at,omitempty"`
	// AtLatest: it could be found by SearchableAt at the latest.
	AtLatest bool `json:"searchable_at_latest,omitempty"`
}

// Freshness tells when the newest content of a URL was loaded, and since when it can
// be found. It is the short form of Trace, for many pages at a time.
func (r *Repository) Freshness(ctx context.Context, u page.URL) (Freshness, error) {
	source := trace.Source{DB: r.db, Log: r.tracing.log, Clock: r.tracing.clock}
	j, err := source.Journey(ctx, u)
	if err != nil {
		return Freshness{}, fmt.Errorf("freshness of %s: %w", u, err)
	}
	f := Freshness{AtLatest: j.AtLatest}
	if j.Loaded != nil {
		f.LoadedAt = j.Loaded.At
	}
	if j.Searchable != nil {
		f.SearchableAt = j.Searchable.At
	}
	return f, nil
}
