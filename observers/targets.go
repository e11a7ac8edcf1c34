package observers

import (
	"context"

	"indexer/schema"
	"indexer/txn"
)

// forwarder passes changed links on to the clusters of their targets, and so to
// their canonical URLs.
//
//	watches  url:forward (weak only)
//	reads    url:pending of the page; url:walk of each target
//	writes   removes url:pending
//	wakes    index (weak) of the cluster of each target; links (weak) of the page, if
//	         url:pending was full: links waits for us then
//
// It runs after the link rows were committed. If a target changes its cluster
// before we read it, we wake the new cluster; if after, cluster wakes the new
// one itself, later than our link rows.
type forwarder struct{ part schema.PartSize }

func (x *forwarder) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	done := 0
	for _, row := range rows {
		if done >= x.part.Entries { // the rest in another run
			tx.Notify(row, schema.NotifyTargets)
			continue
		}
		targets, err := x.page(ctx, tx, row)
		if err != nil {
			return err
		}
		done += targets
	}
	return nil
}

// page passes the changed links of a page on, and says how many targets there were.
func (x *forwarder) page(ctx context.Context, tx *txn.Txn, row string) (int, error) {
	pending, err := tx.Get(ctx, row, schema.Pending)
	if err != nil || !pending.Exists {
		return 0, err
	}
	targets, err := schema.DecodeURLs(pending.Data)
	if err != nil {
		return 0, err
	}
	for _, t := range targets {
		v, err := tx.GetOnce(ctx, schema.URLRow(t), schema.Chain)
		if err != nil {
			return 0, err
		}
		walk, err := schema.DecodeChain(v.Data)
		if err != nil {
			return 0, err
		}
		if end, ok := terminal(walk); ok {
			tx.Notify(schema.ClusterRow(end.Key), schema.Dirty)
		}
	}
	tx.Delete(row, schema.Pending)
	if isFull(targets, len(pending.Data), x.part) {
		tx.Notify(row, schema.Links)
	}
	return len(targets), nil
}
