package observers

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/observers/document"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Sink is where index documents go: the index files.
type Sink interface {
	// Apply returns when the changes are durable. Of two changes of one cluster, the one
	// with the higher Seq holds, in whichever order they come.
	Apply(ctx context.Context, changes []index.Change) error
	// SetRanks does the same with ranks of documents that exist.
	SetRanks(ctx context.Context, ranks []index.RankUpdate) error
	// Touch renews the fetch times of documents, and never sets a time back. It returns
	// the touches for which there is no document.
	Touch(ctx context.Context, touches []index.Touch) (missing []index.Touch, err error)
}

// exports is what a run of index or count writes to the index files.
type exports struct {
	changes   []index.Change
	shown     []string // URL rows of members that searches find from now on
	sum       indexSum
	textBytes int // of the documents
}

// add exports a document, or the fact that there is none. A fresh document has everything
// that was committed before the run began.
func (e *exports) add(ctx context.Context, tx *txn.Txn, key page.ContentKey, d *document.Document, fresh bool) error {
	row := schema.ClusterRow(key)
	if err := e.sum.replaces(ctx, tx, key); err != nil {
		return err
	}
	change := changeOf(key, d, tx.Start())
	var err error
	if change.Thumbnail, err = ThumbnailOf(ctx, tx, d.Canonical); err != nil {
		return err
	}
	e.changes = append(e.changes, change)
	e.textBytes += len(d.Text.Title) + len(d.Text.Text) + len(d.Text.Outline)
	if d.Canonical == "" {
		// Write it even if there is no document: an earlier run that set one, and whose
		// outcome was unknown, must not commit after this run.
		tx.Delete(row, schema.Indexed)
		return nil
	}
	e.sum.add(key, d.Digest)
	stored := schema.StoredIndexed{URL: d.Canonical, Members: d.MembersTotal, Inlinks: d.Inlinks, Rank: d.Rank, Sum: d.Digest}
	tx.Set(row, schema.Indexed, stored.Encode())
	if fresh {
		for _, m := range d.Members {
			e.shown = append(e.shown, schema.URLRow(m))
		}
	}
	return nil
}

// apply writes the index files.
func (x *exporter) apply(ctx context.Context, tx *txn.Txn, e *exports) error {
	if len(e.changes) == 0 {
		return nil
	}
	if x.keepSum {
		if err := e.sum.write(ctx, tx); err != nil {
			return fmt.Errorf("add to the sum of index documents: %w", err)
		}
	}
	if err := x.sink.Apply(ctx, e.changes); err != nil {
		return fmt.Errorf("write index files: %w", err)
	}
	x.tracker.searchable(e.shown)
	return nil
}

// changeOf returns the change of the index files that a document makes.
func changeOf(key page.ContentKey, d *document.Document, seq uint64) index.Change {
	if d.Canonical == "" {
		return index.Delete(key, seq)
	}
	anchors := make([]index.Anchor, len(d.Anchors))
	for i, a := range d.Anchors {
		anchors[i] = index.Anchor(a)
	}
	return index.Upsert(&index.Document{
		Cluster: key, Seq: seq,
		URL: d.Canonical, Title: d.Text.Title, Text: d.Text.Text, Language: d.Text.Language, Outline: d.Text.Outline,
		FetchedAt: d.FetchedAt, Rank: d.Rank,
		Members: d.Members, MembersTotal: d.MembersTotal,
		Anchors: anchors, Inlinks: d.Inlinks,
		Digest: d.Digest,
	})
}

// Export returns what the index files should have of a cluster at a snapshot: what a run of
// index that began at that time would write. It writes nothing and wakes no observer. Next
// returns transactions that read at the snapshot. It returns a new one from time to time,
// because each caches what it has read.
func Export(ctx context.Context, next func() *txn.Txn, key page.ContentKey) (index.Change, error) {
	tx := next()
	d, err := assemble(ctx, tx, next, key)
	if err != nil {
		return index.Change{}, fmt.Errorf("export cluster %x: %w", key[:6], err)
	}
	change := changeOf(key, d, tx.Start())
	change.Thumbnail, err = ThumbnailOf(ctx, next(), d.Canonical) // tx may have ended
	return change, err
}

// ThumbnailOf returns the thumbnail that the index has of a page, or nil for none. The
// document shows the page under its canonical URL, so index runs again when another member
// becomes canonical, and render causes another run when the picture has changed (writeShots).
func ThumbnailOf(ctx context.Context, tx *txn.Txn, u page.URL) ([]byte, error) {
	if u == "" {
		return nil, nil
	}
	setting, err := schema.ReadRender(ctx, tx)
	if err != nil || setting.Mode() == schema.RenderOff {
		return nil, err
	}
	v, err := tx.GetOnce(ctx, schema.URLRow(u), schema.Thumbnail)
	return v.Data, err
}

func assemble(ctx context.Context, tx *txn.Txn, next func() *txn.Txn, key page.ContentKey) (*document.Document, error) {
	c, err := chooseNow(ctx, tx, key)
	if err != nil {
		return nil, err
	}
	limits := document.Limits{}.WithDefaults()
	a, err := document.Begin(ctx, clusterReader{tx: tx, key: key}, limits, c.Choice)
	for all := false; err == nil && !all; {
		left := limits.InlinkRows
		all, err = a.Next(ctx, clusterReader{tx: next(), key: key}, &left)
	}
	if err != nil {
		return nil, err
	}
	return a.Document(), nil
}
