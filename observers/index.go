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
//	wakes    settle (weak), to make it
//
// Everything is read at one snapshot, and the document is a function of it
// alone. So the snapshot's timestamp is its sequence number: a document computed
// at a later snapshot is at least as fresh, whichever transaction commits first.
// The index files come first, then the commit that answers the notification. A
// crash or a conflict in between repeats the export, with a higher number; the
// files never go back and never miss a document.
type indexer struct {
	sink    Sink
	tracker *Tracker
}

func (x *indexer) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	changes := make([]index.Change, 0, len(rows))
	var shown []string
	for _, row := range rows {
		key, err := schema.ParseClusterRow(row)
		if err != nil {
			return err
		}
		d, err := Assemble(ctx, tx, key)
		if err != nil {
			return fmt.Errorf("assemble the document of cluster %x: %w", key[:6], err)
		}
		d.contest(tx, row)
		if d.Canonical == "" {
			changes = append(changes, index.Delete(key, tx.Start()))
			// Also if there is none: a run whose outcome nobody knew, and that set it,
			// must not commit after us.
			tx.Delete(row, schema.Indexed)
			continue
		}
		changes = append(changes, index.Upsert(d.indexDocument(key, tx.Start())))
		tx.Set(row, schema.Indexed, d.stored().Encode())
		shown = append(shown, d.memberRows()...)
	}
	if err := x.sink.Apply(ctx, changes); err != nil {
		return fmt.Errorf("write index files: %w", err)
	}
	x.tracker.searchable(shown)
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
