package observers

import (
	"context"

	"github.com/webindexer/indexer/observers/document"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// inverter is the observer links, which inverts the links of a page.
//
//	watches  doc:links
//	reads    doc:links, doc:inverted, doc:inverting, url:inversion, url:pending of the page
//	writes   the link rows that differ, doc:inverted, doc:inverting, url:inversion,
//	         url:pending
//	wakes    forward and, in a crawl, discover (weak) of the page; itself (weak), to
//	         continue
//
// There is one row for each pair of pages: a popular target is a range of rows, and no
// writer has to read it. forward later looks up which clusters the targets belong to: see
// the package comment.
//
// If the old and the new links each fit into one part (schema/parts.go), they are
// inverted in one transaction. Longer lists are inverted in steps (inversion.go).
//
// url:pending is one cell, so links adds to it only while it is not full. When forward
// empties a full one, it wakes links. Let links find it full at S. The run of forward that
// empties it has read this version or a later, fuller version, so it wakes links at C > S.
type inverter struct{ part schema.PartSize }

func (x *inverter) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	changed := 0
	for _, row := range rows {
		if changed >= x.part.Entries { // leave the rest to another run
			tx.Notify(row, schema.Links)
			continue
		}
		n, err := x.page(ctx, tx, row)
		if err != nil {
			return err
		}
		changed += n
	}
	return nil
}

// page inverts the links of a page, or some of them, and returns how many targets changed.
func (x *inverter) page(ctx context.Context, tx *txn.Txn, row string) (changed int, err error) {
	u, err := schema.ParseURLRow(row)
	if err != nil {
		return 0, err
	}
	if err := tx.Prefetch(ctx, row, schema.Pending, schema.Inversion); err != nil {
		return 0, err
	}
	if full, err := pendingIsFull(ctx, tx, row, x.part); err != nil || full {
		return 0, err
	}
	inversion, err := tx.Get(ctx, row, schema.Inversion)
	if err != nil {
		return 0, err
	}
	if inversion.Exists {
		return x.continueInversion(ctx, tx, u, inversion.Data)
	}
	return x.invert(ctx, tx, u)
}

// invert inverts the links of a page, or begins an inversion if they are many.
func (x *inverter) invert(ctx context.Context, tx *txn.Txn, u page.URL) (changed int, err error) {
	row := schema.URLRow(u)
	if err := tx.Prefetch(ctx, row, schema.Links, schema.Inverted); err != nil {
		return 0, err
	}
	said, err := openLinks(ctx, tx, row, schema.Links)
	if err != nil {
		return 0, err
	}
	inverted, err := openLinks(ctx, tx, row, schema.Inverted)
	if err != nil {
		return 0, err
	}
	if same, err := said.same(ctx, inverted); err != nil || same {
		return 0, err
	}
	tx.Notify(row, schema.Discover)
	if said.parts > 1 || inverted.parts > 1 {
		return x.part.Entries, beginInversion(ctx, tx, row, said) // takes a run of its own
	}
	changed, _, err = writeLinkRows(ctx, tx, u, inverted.from(schema.LinkPlace{}), said.from(schema.LinkPlace{}), nil)
	if err != nil {
		return 0, err
	}
	return changed, said.copyTo(ctx, schema.Inverted, inverted.parts)
}

// writeLinkRows brings the link rows of a page from an old list to a new one, as far as the
// bound allows, and leaves the targets whose rows changed for forward. It returns their
// number, and whether the rows have reached the new list.
func writeLinkRows(ctx context.Context, tx *txn.Txn, u page.URL, old, now *document.ListReader, bound *document.Bound) (changed int, all bool, err error) {
	var targets []page.URL
	all, err = document.Diff(ctx, old, now, bound, func(target page.URL, before, after [][]string) {
		setAnchors(tx, schema.PairRow(target, u), before, after)
		targets = append(targets, target)
	})
	if err != nil {
		return 0, false, err
	}
	return len(targets), all, addPending(ctx, tx, schema.URLRow(u), targets)
}
