package repository

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// exportTo exports clusters as of a snapshot, several in parallel. It wakes index where the choice
// of the canonical URL has moved since index:doc was written. Rerank would not: it compares the
// choice with index:doc, and the choice may have moved back when it runs.
func (r *Repository) exportTo(ctx context.Context, w observers.Sink, tx *txn.Txn, keys []page.ContentKey) error {
	var (
		taken atomic.Int64
		mu    sync.Mutex
		moved []page.ContentKey
	)
	g, each := errgroup.WithContext(ctx)
	for range min(runtime.GOMAXPROCS(0), len(keys)) {
		g.Go(func() error {
			reader := snapshot.NewReader(r.db, tx)
			defer reader.Close()
			out := exportBatch{w: w}
			for i := taken.Add(1) - 1; i < int64(len(keys)); i = taken.Add(1) - 1 {
				change, err := observers.Export(each, reader.Document, keys[i])
				if err == nil {
					err = out.add(each, change)
				}
				isMoved := false
				if err == nil {
					isMoved, err = hasMoved(each, reader.Document(), keys[i], change.Doc)
				}
				if err != nil {
					return err
				}
				if isMoved {
					mu.Lock()
					moved = append(moved, keys[i])
					mu.Unlock()
				}
			}
			return out.flush(each)
		})
	}
	if err := g.Wait(); err != nil || len(moved) == 0 {
		return err
	}
	_, err := r.db.Run(ctx, func(tx *txn.Txn) error {
		for _, k := range moved {
			tx.Notify(schema.ClusterRow(k), schema.Dirty)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("have documents exported again: %w", err)
	}
	return nil
}

// hasMoved reports whether index:doc has another choice than a document that was exported.
func hasMoved(ctx context.Context, tx *txn.Txn, key page.ContentKey, d *index.Document) (bool, error) {
	v, err := tx.Get(ctx, schema.ClusterRow(key), schema.Indexed)
	if err != nil || !v.Exists || d == nil {
		return false, err
	}
	stored, err := schema.DecodeIndexed(v.Data)
	return err == nil && (stored.URL != d.URL || stored.Members != d.MembersTotal), err
}
