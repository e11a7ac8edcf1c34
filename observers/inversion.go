package observers

import (
	"context"

	"github.com/webindexer/indexer/observers/document"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// # Inversions: pages with very many links
//
// An inversion brings the link rows of a page from doc:inverted to doc:inverting, which is
// a copy of doc:links, in the order of targets, one part's worth in each run.
// url:inversion says how far the inversion has come in both lists. At the end, the copy
// becomes doc:inverted. In every snapshot:
//
//  1. Without url:inversion, the page's link rows are those of doc:inverted, and there is
//     no doc:inverting. With it, they are those of doc:inverting before the places in
//     url:inversion, and those of doc:inverted from there on.
//  2. doc:inverted and doc:inverting do not change during an inversion.
//  3. If there is an inversion, or doc:links differs from doc:inverted, then the page has
//     a notification for links, or url:pending is full.
//  4. If url:pending exists, the page has a notification for forward. If the clusters of the
//     first targets of a page have not been notified and are not in url:pending, the page
//     also has one, and doc:inverted is one part and has those targets.
//
// By 1, every obsolete row is found, wherever a crash ends the process: each step is one
// transaction. By 2 and 3, an inversion ends after a bounded number of steps. If the
// timestamp of doc:links shows that it has changed meanwhile, another inversion follows.
// So a half-inverted list lasts only until the remaining steps are done, however often
// the page changes. Readers may see some rows of the old list and some of the new, which
// is harmless: after a row has changed, the cluster of its target is woken.
//
// Rejected: whenever doc:links changes, to begin again from the rows that exist, and to
// patch doc:inverted step by step. This needs no copy, but a page that changes more often
// than steps are made never gets beyond its first targets.

// beginInversion begins an inversion.
func beginInversion(ctx context.Context, tx *txn.Txn, row string, said *linkList) error {
	if err := said.copyTo(ctx, schema.Inverting, 0); err != nil {
		return err
	}
	tx.Set(row, schema.Inversion, schema.StoredInversion{Links: said.ts}.Encode())
	tx.Notify(row, schema.Links)
	return nil
}

// continueInversion makes the next step of an inversion, and returns how many targets
// changed.
func (x *inverter) continueInversion(ctx context.Context, tx *txn.Txn, u page.URL, data []byte) (changed int, err error) {
	s, err := schema.DecodeInversion(data)
	if err != nil {
		return 0, err
	}
	row := schema.URLRow(u)
	inverted, err := openLinks(ctx, tx, row, schema.Inverted)
	if err != nil {
		return 0, err
	}
	inverting, err := openLinks(ctx, tx, row, schema.Inverting)
	if err != nil {
		return 0, err
	}
	old, now := inverted.from(s.Old), inverting.from(s.Now)
	step := document.Bound{Entries: x.part.Entries, Bytes: x.part.Bytes, TargetBytes: len(u)}
	changed, all, err := writeLinkRows(ctx, tx, u, old, now, &step)
	if err != nil {
		return 0, err
	}
	if all {
		return changed, endInversion(ctx, tx, row, s.Links, inverted, inverting)
	}
	s.Old, s.Now = schema.LinkPlace(old.Place()), schema.LinkPlace(now.Place())
	tx.Set(row, schema.Inversion, s.Encode())
	tx.Notify(row, schema.Links)
	return changed, nil
}

// endInversion ends an inversion. If the links of the page have changed meanwhile,
// another one follows.
func endInversion(ctx context.Context, tx *txn.Txn, row string, began uint64, inverted, inverting *linkList) error {
	if err := inverting.copyTo(ctx, schema.Inverted, inverted.parts); err != nil {
		return err
	}
	inverting.remove()
	tx.Delete(row, schema.Inversion)
	said, err := tx.Get(ctx, row, schema.Links)
	if err != nil {
		return err
	}
	if said.TS != began {
		tx.Notify(row, schema.Links)
	}
	return nil
}
