package observers

import (
	"bytes"
	"context"
	"slices"

	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// links inverts the links of a page.
//
//	watches  doc:links
//	reads    doc:links, doc:inverted, url:pending of the page
//	writes   the link rows that differ, doc:inverted, url:pending
//	wakes    forward and, in a crawl, discover (weak) of the page
//
// One row for each pair of pages: a popular target is a range of rows that
// nobody reads in order to write. Which clusters the targets belong to is not
// looked up here but by forward, later: see the package's head.
func links(ctx context.Context, tx *txn.Txn, rows []string) error {
	return each(rows, func(row string) error {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		if _, err := tx.GetRow(ctx, row, schema.GroupDoc); err != nil {
			return err
		}
		said, err := tx.Get(ctx, row, schema.Links)
		if err != nil {
			return err
		}
		inverted, err := tx.Get(ctx, row, schema.Inverted)
		if err != nil || bytes.Equal(said.Data, inverted.Data) {
			return err
		}
		changed, err := invert(tx, u, inverted.Data, said.Data)
		if err != nil {
			return err
		}
		if said.Exists {
			tx.Set(row, schema.Inverted, said.Data)
		} else {
			tx.Delete(row, schema.Inverted)
		}
		return addPending(ctx, tx, row, changed)
	})
}

// invert brings the link rows of a page from old to now, and returns the
// targets whose rows changed. Both lists are sorted by target.
func invert(tx *txn.Txn, u page.URL, oldData, nowData []byte) ([]page.URL, error) {
	old, err := schema.DecodeLinks(oldData)
	if err != nil {
		return nil, err
	}
	now, err := schema.DecodeLinks(nowData)
	if err != nil {
		return nil, err
	}
	var changed []page.URL
	for len(old) > 0 || len(now) > 0 {
		switch {
		case len(now) == 0 || (len(old) > 0 && old[0].Target < now[0].Target):
			tx.Delete(schema.PairRow(old[0].Target, u), schema.Anchors)
			changed = append(changed, old[0].Target)
			old = old[1:]
		case len(old) == 0 || now[0].Target < old[0].Target:
			tx.Set(schema.PairRow(now[0].Target, u), schema.Anchors, schema.EncodeAnchors(now[0].Anchors))
			changed = append(changed, now[0].Target)
			now = now[1:]
		default:
			if !slices.Equal(old[0].Anchors, now[0].Anchors) {
				tx.Set(schema.PairRow(now[0].Target, u), schema.Anchors, schema.EncodeAnchors(now[0].Anchors))
				changed = append(changed, now[0].Target)
			}
			old, now = old[1:], now[1:]
		}
	}
	return changed, nil
}

// addPending leaves targets for forward, in addition to those it has not dealt
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
	tx.Notify(row, schema.Forward)
	tx.Notify(row, schema.Discover)
	return nil
}
