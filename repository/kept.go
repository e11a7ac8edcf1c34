package repository

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/repository/counts"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/txn"
)

// keptCounts are counts that hold as long as nothing is committed. They cost no scan, and the
// next process gets them if nothing has changed when this one closes the repository
// (closed.go).
//
// Rejected: counters that the observers' transactions add to. Most of what Counts has is
// cheap for an observer to know, but not all of it: that a URL is known in no other way, or
// that a member was the last of its cluster, takes a read of other rows in every
// transaction, in exchange for a scan that few people ask for.
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

// present returns the counts that were kept if they still hold, and nil otherwise. With a
// transaction running nobody knows, because its writes are visible shortly before it is
// counted.
func (r *Repository) present() *keptCounts {
	k := r.kept.Load()
	if k == nil || r.shared() || r.db.Running() > 0 || k.at != r.changes() {
		return nil
	}
	return k
}

// count returns the counts, from what was kept or by a scan.
func (r *Repository) count(ctx context.Context) (c counts.Counts, err error) {
	if k := r.present(); k != nil {
		return k.counts, nil
	}
	at := r.changes() // what is counted here is in the snapshot; it may have more
	tx, err := snapshot.Past(ctx, r.db, snapshot.Moment{})
	if err != nil {
		return c, err
	}
	defer tx.Rollback()
	c, err = counts.ReadAtOnce(ctx, func(ctx context.Context) (*txn.Txn, error) { return snapshot.At(ctx, r.db, tx.Start()) })
	if err != nil {
		return c, fmt.Errorf("stats: %w", err)
	}
	r.kept.Store(&keptCounts{counts: c, at: at})
	return c, nil
}
