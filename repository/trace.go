package repository

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"

	"indexer/internal/trace"
	"indexer/page"
	"indexer/repository/inspect"
	"indexer/txn"
)

// tracing is what journeys of pages are told from beside the store.
type tracing struct {
	log    *trace.Log
	clock  *trace.Clock
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// clockName is the file of a data directory that says when timestamps were handed out.
const clockName = "clock"

// clockEvery is how often that is noted while there are new ones.
const clockEvery = 100 * time.Millisecond

// startTracing begins to note the times of timestamps.
func (r *Repository) startTracing(ctx context.Context, opts Options) (err error) {
	t := &r.tracing
	if t.clock, err = trace.OpenClock(filepath.Join(r.dir, clockName)); err != nil {
		return fmt.Errorf("open the repository: %w", err)
	}
	// Before anything is loaded: of what comes before the first sample no time is known.
	r.noteTime(opts.Log)
	ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	t.work.Go(func() { r.keepTime(ctx, opts.Log) })
	return nil
}

// noteTime notes the time of the last timestamp. That is a help only: what cannot be
// written is told and does no harm.
func (r *Repository) noteTime(log *zap.Logger) {
	if err := r.tracing.clock.Note(r.db.LastTimestamp(), time.Now()); err != nil {
		log.Warn("traces will lack times", zap.Error(err))
	}
}

// keepTime notes the times of timestamps until ctx ends, and then once more.
func (r *Repository) keepTime(ctx context.Context, log *zap.Logger) {
	ticker := time.NewTicker(clockEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.noteTime(log)
		case <-ctx.Done():
			r.noteTime(log)
			return
		}
	}
}

// stop ends the noting. It must come before the DB is closed.
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

// Trace tells the journey of a page through the pipeline; see package trace.
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
