package observers

import (
	"context"
	"errors"
	"fmt"

	"github.com/webindexer/indexer/observers/cluster"
	"github.com/webindexer/indexer/observers/document"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// exporter is the two observers index and count, which export the documents of clusters.
type exporter struct {
	sink     Sink
	tracker  *Tracker
	limits   document.Limits
	clusters cluster.Limits
	passes   *document.Passes // over inlinks that are too many for one run
	keepSum  bool             // of index:doc (indexsum.go)
}

// exportBytes bounds the texts that a run of index has in memory. A single text may exceed it.
const exportBytes = 8 << 20

// index exports the document of a cluster.
//
//	watches  index:dirty (weak only), at cluster rows
//	reads    member rows of the cluster, or its summaries; doc:text and fetch times of its
//	         canonical URL, and its thumbnail (shot:thumb), unless app:render is off; link rows
//	         of all members
//	writes   index:doc; app:index-sum and its parts; the index files; choice:x, with a choice
//	         that is to be made
//	wakes    settle (weak), to make it; count (weak) of a cluster with many inlinks;
//	         rerank (weak) of one with many members that has no summaries; itself (weak)
//
// index reads everything at one snapshot, and the document depends on nothing else. So
// the snapshot's timestamp serves as its sequence number: a document computed at a later
// snapshot is at least as fresh, whichever transaction commits first. The index files are
// written before the commit that acknowledges the notification. A crash or a conflict in
// between repeats the export, with a higher number; the files never go back and never
// miss a document.
//
// A cluster with many inlinks is left to count.
//
// For a cluster with many members, summaries stand in for the members (summaries.go). While
// some of them are incomplete, index skips the cluster: the run that completes them wakes
// index. If the summaries are so far behind the members that the canonical URL is unknown,
// index tries again after rerank has run.
func (x *exporter) index(ctx context.Context, tx *txn.Txn, rows []string) error {
	var e exports
	for i, row := range rows {
		if e.textBytes >= exportBytes { // leave the rest to another run
			for _, row := range rows[i:] {
				tx.Continue(row, schema.Dirty)
			}
			break
		}
		key, err := schema.ParseClusterRow(row)
		if err != nil {
			return err
		}
		if err := x.export(ctx, tx, row, key, &e); err != nil {
			return fmt.Errorf("export cluster %x: %w", key[:6], err)
		}
	}
	return x.apply(ctx, tx, &e)
}

func (x *exporter) export(ctx context.Context, tx *txn.Txn, row string, key page.ContentKey, e *exports) error {
	x.passes.Changed(row, tx.Start())
	many, err := x.hadMany(ctx, tx, row)
	if err != nil {
		return err
	}
	if many {
		tx.Notify(row, schema.Count)
		return nil
	}
	c, err := readCluster(ctx, tx, key, x.clusters)
	if waits(tx, row, err) {
		return nil
	}
	if err != nil {
		return err
	}
	r := clusterReader{tx, key, c.members}
	a, err := document.Begin(ctx, r, x.limits, c.Choice)
	if err != nil {
		return err
	}
	left := x.limits.InlinkRows
	all, err := a.Next(ctx, r, &left)
	if err != nil {
		return err
	}
	if !all {
		tx.Notify(row, schema.Count)
		return nil
	}
	c.contest(tx, row)
	return e.add(ctx, tx, key, a.Document(), true)
}

// hadMany reports whether, at its last export, a cluster had too many inlinks for one run,
// or too many members whose inlinks had to be looked for. The observer count finds out
// whether it still has.
func (x *exporter) hadMany(ctx context.Context, tx *txn.Txn, row string) (bool, error) {
	v, err := tx.Get(ctx, row, schema.Indexed)
	if err != nil || !v.Exists {
		return false, err
	}
	d, err := schema.DecodeIndexed(v.Data)
	return d.Members+d.Inlinks > x.limits.InlinkRows, err
}

// waits reports whether err means that readCluster cannot decide yet. If so, it wakes the
// observers that have to run first.
func waits(tx *txn.Txn, row string, err error) bool {
	if errors.Is(err, cluster.ErrIncomplete) {
		tx.Notify(row, schema.Ranked) // in case there are no summaries at all
		return true
	}
	outdated, ok := errors.AsType[*cluster.OutdatedError](err)
	if ok {
		tx.Notify(row+outdated.At, schema.Ranked)
		tx.Notify(row, schema.Dirty)
	}
	return ok
}
