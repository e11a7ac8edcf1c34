package observers

import (
	"context"
	"slices"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// targetNotifier is the observer forward. It tells the clusters of the targets of changed
// links, and so their canonical URLs.
//
//	watches  url:forward (weak only)
//	reads    url:pending of the page; url:walk of each target
//	writes   removes url:pending
//	wakes    index (weak) of the cluster of each target; links (weak) of the page, if
//	         url:pending was full: links waits for this then
//
// It runs after the link rows were committed. If a target changes its cluster
// before this reads it, this wakes the new cluster; if after, cluster wakes the new
// one itself, later than the link rows.
type targetNotifier struct{ part schema.PartSize }

func (x *targetNotifier) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	done := 0
	clusters := make(map[page.URL]string)
	for _, row := range rows {
		if done >= x.part.Entries { // leave the rest to another run
			tx.Notify(row, schema.NotifyTargets)
			continue
		}
		targets, err := x.page(ctx, tx, row, clusters)
		if err != nil {
			return err
		}
		done += targets
	}
	return nil
}

// page wakes the clusters of a page's pending targets, and returns how many targets there
// were. It remembers the clusters for the other pages of the run: pages of a site mostly
// have the same targets.
func (x *targetNotifier) page(ctx context.Context, tx *txn.Txn, row string, clusters map[page.URL]string) (int, error) {
	targets, full, err := readPending(ctx, tx, row, x.part)
	if err != nil || targets == nil {
		return 0, err
	}
	for _, t := range targets {
		cluster, known := clusters[t]
		if !known {
			if cluster, err = clusterRow(ctx, tx, t); err != nil {
				return 0, err
			}
			clusters[t] = cluster
		}
		if cluster != "" {
			tx.NotifyPatiently(cluster, schema.Dirty)
		}
	}
	tx.Delete(row, schema.Pending)
	if full {
		tx.Notify(row, schema.Links)
	}
	return len(targets), nil
}

// clusterRow returns the row of the cluster to which a URL leads, "" if it leads to none.
func clusterRow(ctx context.Context, tx *txn.Txn, u page.URL) (string, error) {
	v, err := tx.GetOnce(ctx, schema.URLRow(u), schema.Chain)
	if err != nil {
		return "", err
	}
	chain, err := schema.DecodeChain(v.Data)
	if err != nil {
		return "", err
	}
	end, ok := terminal(chain)
	if !ok {
		return "", nil
	}
	return schema.ClusterRow(end.Key), nil
}

// readPending reads the targets whose clusters have not been told, nil if there is no cell
// for them, and whether they are as many as one cell should hold.
func readPending(ctx context.Context, tx *txn.Txn, row string, part schema.PartSize) (targets []page.URL, full bool, err error) {
	pending, err := tx.Get(ctx, row, schema.Pending)
	if err != nil || !pending.Exists {
		return nil, false, err
	}
	targets, err = schema.DecodeURLs(pending.Data)
	return targets, len(targets) >= part.Entries || len(pending.Data) >= part.Bytes, err
}

// pendingIsFull reports whether links has to wait for forward.
func pendingIsFull(ctx context.Context, tx *txn.Txn, row string, part schema.PartSize) (bool, error) {
	_, full, err := readPending(ctx, tx, row, part)
	return full, err
}

// addPending leaves targets for forward, in addition to the ones that it has not dealt
// with yet.
func addPending(ctx context.Context, tx *txn.Txn, row string, targets []page.URL) error {
	if len(targets) == 0 {
		return nil
	}
	pending, err := tx.Get(ctx, row, schema.Pending)
	if err != nil {
		return err
	}
	waiting, err := schema.DecodeURLs(pending.Data)
	if err != nil {
		return err
	}
	targets = append(targets, waiting...)
	slices.Sort(targets)
	tx.Set(row, schema.Pending, schema.EncodeURLs(slices.Compact(targets)))
	tx.Notify(row, schema.NotifyTargets)
	return nil
}
