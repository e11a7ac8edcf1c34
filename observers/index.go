package observers

import (
	"context"
	"errors"
	"fmt"

	"indexer/index"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// Sink is where index documents go: the index files.
type Sink interface {
	// Apply returns when the changes are durable. Of two changes of one cluster
	// the one with the higher Seq holds, in whichever order they come.
	Apply(ctx context.Context, changes []index.Change) error
	// SetRanks does the same with ranks of documents that are there.
	SetRanks(ctx context.Context, ranks []index.RankUpdate) error
}

// indexer exports clusters.
//
//	watches  index:dirty (weak only), at cluster rows
//	reads    member rows of the cluster, or its sections; doc:text and fetch times of its
//	         canonical URL; link rows of all members
//	writes   index:doc; the index files; choice:x, with a choice that is to be made
//	wakes    settle (weak), to make it; count (weak) of a cluster with many inlinks;
//	         rerank (weak) of one with many members that has no sections; itself (weak)
//
// Everything is read at one snapshot, and the document is a function of it
// alone. So the snapshot's timestamp is its sequence number: a document computed
// at a later snapshot is at least as fresh, whichever transaction commits first.
// The index files come first, then the commit that answers the notification. A
// crash or a conflict in between repeats the export, with a higher number; the
// files never go back and never miss a document. Clusters with many inlinks are left to
// count.
//
// Of a cluster with many members the sections stand for the members (sections.go). While
// there are some that nobody has read yet, the cluster is left alone: who reads
// them wakes us. Where they are behind the members so that no canonical URL can be told, it is
// tried again, after rerank.
type indexer struct {
	sink    Sink
	tracker *Tracker
	passes  passes // over inlinks that are too many for one run
}

func (x *indexer) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	out := x.output(tx)
	for _, row := range rows {
		key, err := schema.ParseClusterRow(row)
		if err != nil {
			return err
		}
		if err := x.export(ctx, tx, row, key, out); err != nil {
			return fmt.Errorf("export cluster %x: %w", key[:6], err)
		}
	}
	return out.write(ctx)
}

func (x *indexer) export(ctx context.Context, tx *txn.Txn, row string, key page.ContentKey, out *output) error {
	x.passes.changed(row, tx.Start())
	many, err := hadMany(ctx, tx, row)
	if err != nil {
		return err
	}
	if many {
		tx.Notify(row, schema.Count)
		return nil
	}
	a, err := beginAssembly(ctx, tx, key)
	if later(tx, row, err) {
		return nil
	}
	if err != nil {
		return err
	}
	left := inlinkRows
	all, err := a.next(ctx, tx, &left)
	if err != nil {
		return err
	}
	if !all {
		tx.Notify(row, schema.Count)
		return nil
	}
	out.add(row, key, a.finished(), true)
	return nil
}

// hadMany reports that a cluster had too many inlinks, or members to look for them, for
// one run when it was last exported. Count then finds out whether it still has.
func hadMany(ctx context.Context, tx *txn.Txn, row string) (bool, error) {
	v, err := tx.Get(ctx, row, schema.Indexed)
	if err != nil || !v.Exists {
		return false, err
	}
	d, err := schema.DecodeIndexed(v.Data)
	return d.Members+d.Inlinks > inlinkRows, err
}

// later reports that a document cannot be assembled yet, and sees to it that it will be.
func later(tx *txn.Txn, row string, err error) bool {
	var behind *behindError
	switch {
	case errors.Is(err, errUnread):
		tx.Notify(row, schema.Ranked) // if there are no sections at all
	case errors.As(err, &behind):
		tx.Notify(behind.row, schema.Ranked)
		tx.Notify(row, schema.Dirty)
	default:
		return false
	}
	return true
}

// output is what a run exports.
type output struct {
	x       *indexer
	tx      *txn.Txn
	changes []index.Change
	shown   []string
}

func (x *indexer) output(tx *txn.Txn) *output { return &output{x: x, tx: tx} }

// add exports a document, or that there is none. Fresh is one that has all that was
// committed before the run began.
func (o *output) add(row string, key page.ContentKey, d *Assembled, fresh bool) {
	d.contest(o.tx, row)
	if d.Canonical == "" {
		o.changes = append(o.changes, index.Delete(key, o.tx.Start()))
		// Also if there is none: a run whose outcome nobody knew, and that set it,
		// must not commit after us.
		o.tx.Delete(row, schema.Indexed)
		return
	}
	o.changes = append(o.changes, index.Upsert(d.indexDocument(key, o.tx.Start())))
	o.tx.Set(row, schema.Indexed, d.stored().Encode())
	if fresh {
		o.shown = append(o.shown, d.memberRows()...)
	}
}

func (o *output) write(ctx context.Context) error {
	if len(o.changes) == 0 {
		return nil
	}
	if err := o.x.sink.Apply(ctx, o.changes); err != nil {
		return fmt.Errorf("write index files: %w", err)
	}
	o.x.tracker.searchable(o.shown)
	return nil
}

func (d *Assembled) indexDocument(key page.ContentKey, seq uint64) *index.Document {
	return &index.Document{
		Cluster: key, Seq: seq,
		URL: d.Canonical, Title: d.Text.Title, Text: d.Text.Text, Language: d.Text.Language,
		FetchedAt: d.FetchedAt, Rank: d.Rank,
		Members: d.Members, MembersTotal: d.MembersTotal,
		Anchors: d.anchors, Inlinks: d.Inlinks,
		Digest: d.Sum,
	}
}

// Export is what the index files should hold of a cluster at a snapshot: what a run of the observer would
// write that had begun then. It notifies nobody and writes nothing. Next gives transactions that
// read at the snapshot, a new one now and then; each remembers what was read in it.
func Export(ctx context.Context, next func() *txn.Txn, key page.ContentKey) (index.Change, error) {
	tx := next()
	a, err := beginAssembly(ctx, tx, key)
	var behind *behindError
	if errors.Is(err, errUnread) || errors.As(err, &behind) {
		a, err = assembleWhole(ctx, tx, key)
	}
	for all := false; err == nil && !all; {
		left := inlinkRows
		all, err = a.next(ctx, next(), &left)
	}
	if err != nil {
		return index.Change{}, fmt.Errorf("export cluster %x: %w", key[:6], err)
	}
	d := a.finished()
	if d.Canonical == "" {
		return index.Delete(key, tx.Start()), nil
	}
	return index.Upsert(d.indexDocument(key, tx.Start())), nil
}

func (d *Assembled) stored() schema.StoredIndexed {
	return schema.StoredIndexed{URL: d.Canonical, Members: d.MembersTotal, Inlinks: d.Inlinks, Rank: d.Rank, Sum: d.Sum}
}

// memberRows are the rows of the members that are shown.
func (d *Assembled) memberRows() []string {
	rows := make([]string, len(d.Members))
	for i, m := range d.Members {
		rows[i] = schema.URLRow(m)
	}
	return rows
}
