package repository

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/internal/trace"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/txn"
)

// tracing holds the sources of the traces of pages, apart from the store.
type tracing struct {
	log    *trace.Log
	clock  *trace.Clock
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// clockName is the file of a data directory that says when timestamps were issued.
const clockName = "clock"

// clockEvery is how often the clock is sampled while there are new timestamps.
const clockEvery = 100 * time.Millisecond

// startTracing starts to record the times of timestamps.
func (r *Repository) startTracing(ctx context.Context) (err error) {
	t := &r.tracing
	if r.shared() {
		// Several processes may use the directory, and each knows only its own times. A killed
		// process would leave its file for ever.
		t.clock = new(trace.Clock)
	} else if t.clock, err = trace.OpenClock(filepath.Join(r.dir, clockName)); err != nil {
		return fmt.Errorf("open the repository: %w", err)
	}
	// Take a sample before anything is loaded, because nothing is known about times before the
	// first sample.
	r.noteTime()
	ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	t.work.Go(func() { r.keepTime(ctx) })
	return nil
}

// noteTime records the time of the last timestamp. Nothing depends on it, so an error is
// only logged.
func (r *Repository) noteTime() {
	if err := r.tracing.clock.Note(r.db.LastTimestamp(), time.Now()); err != nil {
		r.log.Warn("traces will lack times", zap.Error(err))
	}
}

// keepTime records the times of timestamps until ctx ends, and then one last time.
func (r *Repository) keepTime(ctx context.Context) {
	for sleep.For(ctx, clockEvery) == nil {
		r.noteTime()
	}
	r.noteTime()
}

// stop ends the recording. It must be called before the DB is closed.
func (t *tracing) stop() error {
	if t.clock == nil {
		return nil
	}
	if t.cancel != nil {
		t.cancel()
		t.work.Wait()
	}
	return t.clock.Close()
}

// Trace returns the journey of a page through the pipeline; see package trace.
func (r *Repository) Trace(ctx context.Context, u page.URL) (*trace.Journey, error) {
	source := trace.Source{DB: r.db, Log: r.tracing.log, Clock: r.tracing.clock}
	j, err := source.Journey(ctx, u)
	if err != nil {
		return nil, err
	}
	err = inspect.Long(ctx, r, u, inspect.Options{}, func(i *inspect.Inspected, _ *txn.Txn) error {
		j.Reason, j.Canonical = i.Reason, i.Canonical
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	return j, nil
}

// Freshness says when a page could be found. A field is nil if its time is no longer known.
type Freshness struct {
	LoadedAt     *time.Time `json:"loaded_at,omitempty"`
	SearchableAt *time.Time `json:"searchable_at,omitempty"`
	// AtLatest says that the page could be found at SearchableAt or earlier.
	AtLatest bool `json:"searchable_at_latest,omitempty"`
}

// Freshness returns when the newest content of a URL was loaded, and since when it can be
// found. It is a short form of Trace, for many pages at a time.
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
