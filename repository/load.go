package repository

import (
	"context"
	"math"

	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/txn"
)

// allTurns is more than the number of Loads at any time.
const allTurns = math.MaxInt64

// take waits for turns of the gate, until ctx ends.
func (r *Repository) take(ctx context.Context, turns int64) error {
	if r.gate.Acquire(ctx, turns) != nil {
		return context.Cause(ctx)
	}
	return nil
}

// Load writes one fetch, waiting first while the observers are far behind. It
// may be called from many goroutines.
func (r *Repository) Load(ctx context.Context, f *page.Fetch) (loader.Effect, error) {
	if err := r.take(ctx, 1); err != nil {
		return 0, err
	}
	defer r.gate.Release(1)
	return r.load.Load(ctx, f)
}

// LoadAnd loads a fetch and does something else in the same transaction; see
// loader.Loader.LoadAnd.
func (r *Repository) LoadAnd(ctx context.Context, f *page.Fetch, also func(context.Context, *txn.Txn, loader.Effect) error) (loader.Effect, error) {
	if err := r.take(ctx, 1); err != nil {
		return 0, err
	}
	defer r.gate.Release(1)
	return r.load.LoadAnd(ctx, f, also)
}

// Loading says that a fetch will be loaded soon, until end is called; see
// notify.Pipeline.Loading. Load calls it itself.
func (r *Repository) Loading() (end func()) { return r.load.Loading() }

// Quiesce waits until all work is done, so that everything loaded before is
// searchable.
func (r *Repository) Quiesce(ctx context.Context) error {
	_, err := r.pipeline.Quiesce(ctx)
	return err
}
