package repository

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/repository/counts"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/txn"
)

// keptCounts are counts that hold as long as nothing is committed. They cost nothing, and the
// next process gets them if they still hold when this process closes the repository
// (closed.go).
type keptCounts struct {
	counts counts.Counts
	at     int64 // changes, before the counts were read
}

// changes counts the transactions that have changed what can be read, since Open. A
// transaction is counted when its writes are visible and before it has ended.
func (r *Repository) changes() int64 {
	c := r.db.Counters()
	return c.Committed.Load() + c.RolledForward.Load()
}

// present returns the kept counts if they are still correct, and nil otherwise. While a
// transaction is running, that is unknown, because its writes become visible shortly
// before it is counted.
func (r *Repository) present() *keptCounts {
	k := r.kept.Load()
	if k == nil || r.shared() || r.db.Running() > 0 || k.at != r.changes() {
		return nil
	}
	return k
}

// count returns the counts. They are the kept ones, or come from a scan of the rows that were
// written since the last count.
func (r *Repository) count(ctx context.Context) (counts.Counts, error) {
	if k := r.present(); k != nil {
		return k.counts, nil
	}
	cache := r.counted
	if r.shared() { // this process does not learn what others write
		cache = counts.NewCache()
	}
	at := r.changes() // the snapshot has the changes that are counted here, and perhaps more
	c, err := cache.Read(ctx,
		func(ctx context.Context) (*txn.Txn, error) { return snapshot.Now(ctx, r.db) },
		func(ctx context.Context, ts uint64) (*txn.Txn, error) { return snapshot.At(ctx, r.db, ts) })
	if err != nil {
		return c, fmt.Errorf("stats: %w", err)
	}
	r.kept.Store(&keptCounts{counts: c, at: at})
	return c, nil
}
