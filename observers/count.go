package observers

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/observers/document"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// count exports the documents of clusters with too many inlinks for one run.
//
//	watches  index:count (weak only), at cluster rows
//	reads    what index reads, the link rows in parts
//	writes   what index writes
//	wakes    settle (weak); itself (weak): to continue, or for another pass
//
// A pass reads the inlinks of a cluster, Limits.InlinkRows in each run, at the snapshot of
// that run, and continues (txn.Txn.Continue) until it has read them all. Its counts are in
// memory (document.Passes). The notification is in the table, and stays until the pass has
// ended. So however many pages link to a page, a run is bounded in time and memory. A
// crash costs one pass, which begins again.
//
// A pass over a million inlinks takes some seconds, and while pages stream in there is
// always another pass to make. So the observer is debounced: a cluster gets one pass per
// countDebounce, and another when nothing has come for countIdle. MaxOpen bounds the number
// of passes in memory.
//
// # Why the last export is right
//
// Let C be the commit of a change of anything that the document depends on. It wakes
// index, as it does for every cluster (see the package comment). A run of index that began
// at I > C notes I with the pass (Passes.Changed) and wakes count. A pass that began at B
// > I has read everything after C. A pass that began before I does not count as the last
// one: at its end, the note says I ≥ B, and the pass asks for another one. Hence:
//
//  1. Only the end of a pass that began after the start of every run of index on the
//     cluster removes the notification at the cluster.
//  2. When no notification is left, nothing but ranks has been committed since that pass
//     began: all its parts saw the same state, and the document is what a run that reads
//     everything at once would make.
//
// index notes only clusters that have an entry in passes. So the first run of count makes
// the entry and does nothing else, and the pass begins in the next run: a run of index that
// did not find the entry began before that. If index exports a document itself
// (because few inlinks are left), it also has noted that with the pass.
//
// Ranks change without waking index, and so do times of fetches that brought nothing new
// (index.Writer.Touch renews the time of a document that exists). So the run that exports
// reads the time, and what ranks decide, again. It writes what it reads at its own snapshot,
// as rerank does. The ranks of sources, which choose the best anchors, are those that the
// pass has read (document/anchors.go).
//
// Nor does the renewal of a member summary wake index if the document in the index files
// already has the number of members that rerank finds. A pass that began with the old summary
// has another number. So the run that exports compares its number with that of its own
// snapshot, and wakes index if they differ. If rerank renews the summary after that snapshot,
// it finds the exported number in index:doc, or conflicts with the export there.
//
// An overtaken pass is exported before the next one begins: under endless changes, the
// document is one pass behind, and not out of date for ever.
//
// docs/decisions/0011-giant-clusters.md says what was rejected.
func (x *exporter) count(ctx context.Context, tx *txn.Txn, rows []string) error {
	for _, row := range rows {
		key, err := schema.ParseClusterRow(row)
		if err != nil {
			return err
		}
		if err := x.countRow(ctx, tx, row, key); err != nil {
			return fmt.Errorf("count the inlinks of cluster %x: %w", key[:6], err)
		}
	}
	return nil
}

func (x *exporter) countRow(ctx context.Context, tx *txn.Txn, row string, key page.ContentKey) error {
	keep := false
	defer func() {
		if !keep { // an error or a panic: the pass may have counted half a part
			x.passes.Drop(row)
		}
	}()
	p, err := x.pass(ctx, tx, row, key)
	if waits(tx, row, err) { // index will wake us, and the pass begins again
		return nil
	}
	if err != nil {
		return err
	}
	if p != nil && !p.All {
		left := x.limits.InlinkRows
		if p.All, err = p.Next(ctx, clusterReader{tx: tx, key: key}, &left); err != nil {
			return err
		}
	}
	if p == nil || !p.All { // the next run begins the pass, or continues it
		tx.Continue(row, schema.Count)
	} else if err := x.exportPass(ctx, tx, row, key, p); err != nil {
		return err
	}
	keep = true
	return nil
}

// pass returns the pass of a cluster. It is a new one if there is none, or if the last
// one has ended and was overtaken. It is nil if the transaction is too old to begin one.
func (x *exporter) pass(ctx context.Context, tx *txn.Txn, row string, key page.ContentKey) (*document.Pass, error) {
	p, mayBegin := x.passes.Current(row, tx.Start())
	if !mayBegin {
		return p, nil
	}
	c, err := readCluster(ctx, tx, key, x.clusters)
	if err != nil {
		return nil, err
	}
	a, err := document.Begin(ctx, clusterReader{tx: tx, key: key}, x.limits, c.Choice)
	if err != nil {
		return nil, err
	}
	return x.passes.Begin(row, tx.Start(), a), nil
}

// exportPass exports the counts of a pass.
func (x *exporter) exportPass(ctx context.Context, tx *txn.Txn, row string, key page.ContentKey, p *document.Pass) error {
	now, err := readCluster(ctx, tx, key, x.clusters)
	behind := waits(tx, row, err)
	if err != nil && !behind {
		return err
	}
	fresh := x.passes.End(row, p)
	if !fresh {
		tx.Notify(row, schema.Count)
	}
	if behind {
		return nil
	}
	d := *p.Document()
	if now.Canonical != d.Canonical { // the transaction that changed it wakes index
		tx.Notify(row, schema.Dirty)
		return nil
	}
	if now.Members != d.MembersTotal { // a summary was behind the members when the pass began
		tx.Notify(row, schema.Dirty)
	}
	d.Rank = now.Rank
	if d.Canonical != "" {
		if d.FetchedAt, err = FetchedAt(ctx, tx, d.Canonical); err != nil {
			return err
		}
	}
	now.contest(tx, row)
	var e exports
	if err := e.add(ctx, tx, key, &d, fresh); err != nil {
		return err
	}
	return x.apply(ctx, tx, &e)
}
