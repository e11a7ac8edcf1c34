package observers

import (
	"context"

	"indexer/schema"
	"indexer/txn"
)

// forward passes changed links on to the clusters of their targets, and so to
// their canonical URLs.
//
//	watches  url:forward (weak only)
//	reads    url:pending of the page; url:walk of each target
//	writes   removes url:pending
//	wakes    index (weak) of the cluster of each target
//
// It runs after the link rows were committed. If a target changes its cluster
// before we read it, we wake the new cluster; if after, cluster wakes the new
// one itself, later than our link rows.
func forward(ctx context.Context, tx *txn.Txn, rows []string) error {
	return each(rows, func(row string) error {
		pending, err := tx.Get(ctx, row, schema.Pending)
		if err != nil || !pending.Exists {
			return err
		}
		targets, err := schema.DecodeURLs(pending.Data)
		if err != nil {
			return err
		}
		for _, t := range targets {
			walk, err := readWalk(ctx, tx, schema.URLRow(t))
			if err != nil {
				return err
			}
			if end, ok := terminal(walk); ok {
				tx.Notify(schema.ClusterRow(end.Key), schema.Dirty)
			}
		}
		tx.Delete(row, schema.Pending)
		return nil
	})
}
