package observers

import (
	"context"
	"fmt"
	"slices"

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
//	reads    member rows of the cluster; doc:text and fetch times of its canonical
//	         URL; link rows of all members
//	writes   index:doc; the index files; choice:x, with a choice that is to be made
//	wakes    settle (weak), to make it; tally (weak) of a cluster with many inlinks
//
// Everything is read at one snapshot, and the document is a function of it
// alone. So the snapshot's timestamp is its sequence number: a document computed
// at a later snapshot is at least as fresh, whichever transaction commits first.
// The index files come first, then the commit that answers the notification. A
// crash or a conflict in between repeats the export, with a higher number; the
// files never go back and never miss a document. Clusters with many inlinks are left to
// tally.
type indexer struct {
	sink    Sink
	tracker *Tracker
	passes  passes // over inlinks that are too many for one run
}

func (x *indexer) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	out := x.output(tx)
	for _, row := range rows {
		x.passes.changed(row, tx.Start())
		key, err := schema.ParseClusterRow(row)
		if err != nil {
			return err
		}
		a, err := beginAssembly(ctx, tx, key)
		if err != nil {
			return fmt.Errorf("assemble the document of cluster %x: %w", key[:6], err)
		}
		all, err := a.next(ctx, tx, inlinkRows)
		if err != nil {
			return fmt.Errorf("read the inlinks of cluster %x: %w", key[:6], err)
		}
		if !all {
			tx.Notify(row, schema.Tally)
			continue
		}
		out.add(row, key, a.finished(), true)
	}
	return out.write(ctx)
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

// ShownMembers and ShownAnchors bound what an index document carries of a giant
// cluster or a hub page; the true numbers stand beside them, and export and
// inspect read all of them from the repository.
const (
	ShownMembers = 1000
	ShownAnchors = 200
)

// shownMembers are the first ShownMembers members, but the canonical URL is always
// among them: in place of the last if need be.
func (d *Assembled) shownMembers() []page.URL {
	if len(d.Members) <= ShownMembers {
		return d.Members
	}
	shown := slices.Clone(d.Members[:ShownMembers])
	if !slices.Contains(shown, d.Canonical) {
		shown[ShownMembers-1] = d.Canonical
	}
	return shown
}

func (d *Assembled) indexDocument(key page.ContentKey, seq uint64) *index.Document {
	return &index.Document{
		Cluster: key, Seq: seq,
		URL: d.Canonical, Title: d.Text.Title, Text: d.Text.Text, Language: d.Text.Language,
		FetchedAt: d.FetchedAt, Rank: d.Rank,
		Members: d.shownMembers(), MembersTotal: len(d.Members),
		Anchors: d.anchors.best(ShownAnchors), Inlinks: d.Inlinks,
	}
}

func (d *Assembled) stored() schema.StoredIndexed {
	return schema.StoredIndexed{URL: d.Canonical, Members: len(d.Members), Inlinks: d.Inlinks, Rank: d.Rank, Sum: d.Sum}
}

func (d *Assembled) memberRows() []string {
	rows := make([]string, len(d.Members))
	for i, m := range d.Members {
		rows[i] = schema.URLRow(m)
	}
	return rows
}
