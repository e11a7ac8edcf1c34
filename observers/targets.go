package observers

import (
	"context"
	"slices"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// targetNotifier is the observer forward. It notifies the clusters, and so the canonical
// URLs, of the targets of changed links.
//
//	watches  url:forward (weak only)
//	reads    url:pending of the page, or doc:inverted; url:walk of each target
//	writes   removes url:pending
//	wakes    index (weak) of the cluster of each target; links (weak) of the page, if
//	         url:pending was full: links waits for this then
//
// If a page has no url:pending, its first links were inverted at once (atonce.go), and all
// targets in doc:inverted must be notified. That saves writing a list that would be removed
// a moment later. addPending makes sure that url:pending, where it exists, lists every
// target to notify.
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
	if err := tx.Prefetch(ctx, row, schema.Pending, schema.Inverted); err != nil {
		return 0, err
	}
	targets, full, err := readPending(ctx, tx, row, x.part)
	if err != nil {
		return 0, err
	}
	pending := targets != nil
	if !pending {
		if targets, err = firstTargets(ctx, tx, row); err != nil {
			return 0, err
		}
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
			tx.NotifyDeferrable(cluster, schema.Dirty)
		}
	}
	if pending {
		tx.Delete(row, schema.Pending)
	}
	if full {
		tx.Notify(row, schema.Links)
	}
	return len(targets), nil
}

// clusterRow returns the row of the cluster to which a URL leads, "" if it leads to none.
func clusterRow(ctx context.Context, tx *txn.Txn, u page.URL) (string, error) {
	end, ok, err := terminalOf(ctx, tx, u)
	if err != nil || !ok {
		return "", err
	}
	return schema.ClusterRow(end.Key), nil
}

// readPending reads the targets whose clusters have not been notified, or nil if there is
// no cell for them. It reports whether they are as many as one cell should hold.
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

// firstTargets returns the targets of links that were inverted at once. It returns none for
// other links: those have more than one part, or url:pending.
func firstTargets(ctx context.Context, tx *txn.Txn, row string) ([]page.URL, error) {
	inverted, err := openLinks(ctx, tx, row, schema.Inverted)
	if err != nil || inverted.parts > 1 {
		return nil, err
	}
	targets := make([]page.URL, len(inverted.first))
	for i, l := range inverted.first {
		targets[i] = l.Target
	}
	return targets, nil
}

// addPending leaves targets for forward, in addition to those that it has not handled
// yet.
//
// If there is no list, forward may still have to notify the targets of the page's first
// links, which never had a list. Its notification shows that. Once the list exists, forward
// reads nothing else, so the list must also include those targets. (If forward has just
// run, they are notified twice, which is harmless.)
func addPending(ctx context.Context, tx *txn.Txn, row string, targets []page.URL) error {
	if len(targets) == 0 {
		return nil
	}
	pending, err := tx.Get(ctx, row, schema.Pending)
	if err != nil {
		return err
	}
	waiting, err := schema.DecodeURLs(pending.Data)
	if err == nil && !pending.Exists {
		waiting, err = pendingTargets(ctx, tx, row)
	}
	if err != nil {
		return err
	}
	targets = append(targets, waiting...)
	slices.Sort(targets)
	tx.Set(row, schema.Pending, schema.EncodeURLs(slices.Compact(targets)))
	tx.Notify(row, schema.NotifyTargets)
	return nil
}

// pendingTargets returns the targets of a page's first links if forward has not handled
// them yet.
func pendingTargets(ctx context.Context, tx *txn.Txn, row string) ([]page.URL, error) {
	sent, err := tx.Notified(ctx, txn.Cell{Row: row, Column: schema.NotifyTargets}, forwardName)
	if err != nil || sent == 0 {
		return nil, err
	}
	return firstTargets(ctx, tx, row)
}
