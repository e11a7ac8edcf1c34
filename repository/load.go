package repository

import (
	"context"
	"fmt"
	"sync"

	"indexer/index"
	"indexer/loader"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// Load writes one fetch, waiting first while the observers are far behind. It
// may be called from many goroutines.
func (r *Repository) Load(ctx context.Context, f *page.Fetch) (loader.Effect, error) {
	return r.LoadAnd(ctx, f, func(context.Context, *txn.Txn, loader.Effect) error { return nil })
}

// LoadAnd loads a fetch and does something else in the same transaction; see
// loader.Loader.LoadAnd.
func (r *Repository) LoadAnd(ctx context.Context, f *page.Fetch, also func(context.Context, *txn.Txn, loader.Effect) error) (loader.Effect, error) {
	r.gate.RLock()
	defer r.gate.RUnlock()
	effect, err := r.load.LoadAnd(ctx, f, also)
	if err == nil && effect == loader.Renewed {
		err = r.touches.add(ctx, &r.files, index.Touch{URL: f.URL, FetchedAt: schema.StorableTime(f.Time)})
	}
	return effect, err
}

// Quiesce waits until nothing is left to do, so that everything loaded before is
// searchable.
func (r *Repository) Quiesce(ctx context.Context) error {
	_, err := r.quiesce(ctx)
	return err
}

// quiesce returns the timestamp up to which everything is done.
func (r *Repository) quiesce(ctx context.Context) (uint64, error) {
	ts, err := r.pipeline.Quiesce(ctx)
	if err != nil {
		return 0, err
	}
	// Times come last: what they are of must have a document by now.
	return ts, r.touches.flush(ctx, &r.files)
}

// toucher gathers renewed fetch times for the index files. A page that was
// fetched again and has not changed wakes no observer; so its time goes to the
// index files from here, and not through a transaction. After a crash the index
// files may show the time of an earlier fetch until the page is next fetched or
// exported; the repository has the right one.
type toucher struct {
	mu      sync.Mutex
	waiting []index.Touch
}

// touchBatch is how many times are written at once.
const touchBatch = 256

func (t *toucher) add(ctx context.Context, w *indexFiles, touch index.Touch) error {
	t.mu.Lock()
	t.waiting = append(t.waiting, touch)
	full := len(t.waiting) >= touchBatch
	t.mu.Unlock()
	if full {
		return t.flush(ctx, w)
	}
	return nil
}

func (t *toucher) flush(ctx context.Context, w *indexFiles) error {
	t.mu.Lock()
	batch := t.waiting
	t.waiting = nil
	t.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	if err := w.Touch(ctx, batch); err != nil {
		return fmt.Errorf("renew fetch times in the index files: %w", err)
	}
	return nil
}
