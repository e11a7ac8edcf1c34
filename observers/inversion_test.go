package observers_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// checkInversions checks the invariants in observers/inversion.go at a snapshot: the first by
// the link rows, the others by the notifications that are waiting.
func checkInversions(ctx context.Context, db *txn.DB) error {
	waiting, _, err := db.Notifications(ctx, "", 1<<20)
	if err != nil {
		return err
	}
	woken := make(map[string]bool)
	for _, n := range waiting {
		woken[n.Observer+" "+n.Cell.Row] = true
	}
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	want := make(map[string]string)
	err = tx.Scan(ctx, schema.GroupDoc, "", "", func(row string, cols []txn.Version) error {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		return expectRows(ctx, tx, u, cols, woken, want)
	})
	if err != nil {
		return err
	}
	got := make(map[string]string)
	err = tx.Scan(ctx, schema.GroupLink, "", "", func(row string, cols []txn.Version) error {
		anchors, err := schema.AnchorsIn(cols)
		got[row] = fmt.Sprintf("%q", anchors)
		return err
	})
	if err != nil {
		return err
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("link rows are\n%q\nwant\n%q", got, want)
	}
	return nil
}

// expectRows adds the link rows that a page should have.
func expectRows(ctx context.Context, tx *txn.Txn, u page.URL, cols []txn.Version, woken map[string]bool, want map[string]string) error {
	row := schema.URLRow(u)
	stored, err := tx.Get(ctx, row, schema.Inversion)
	if err != nil {
		return err
	}
	pending, err := tx.Get(ctx, row, schema.Pending)
	if err != nil {
		return err
	}
	said, inverted, inverting := schema.PartsIn(schema.Links, cols), schema.PartsIn(schema.Inverted, cols), schema.PartsIn(schema.Inverting, cols)
	behind := slices.EqualFunc(said, inverted, slices.Equal)
	switch {
	case !stored.Exists && len(inverting) > 0:
		return fmt.Errorf("%s: a copy without an inversion", u)
	case (stored.Exists || !behind) && !pending.Exists && !woken["links "+row]:
		return fmt.Errorf("%s: no observer will continue with its links", u)
	case pending.Exists && !woken["forward "+row]:
		return fmt.Errorf("%s: no observer will wake the clusters of its targets", u)
	}
	place := schema.StoredInversion{}
	if stored.Exists {
		if place, err = schema.DecodeInversion(stored.Data); err != nil {
			return err
		}
	}
	rows := make(map[string][]string)
	add := func(parts [][]byte, counts func(schema.LinkPlace) bool) error {
		for i, b := range parts {
			groups, _, err := schema.DecodeLinkPart(b)
			if err != nil {
				return err
			}
			for k, g := range groups {
				if counts(schema.LinkPlace{Part: i, Index: k}) {
					pair := schema.PairRow(g.Target, u)
					rows[pair] = append(rows[pair], g.Anchors...)
				}
			}
		}
		return nil
	}
	before := func(a, b schema.LinkPlace) bool { return a.Part < b.Part || a.Part == b.Part && a.Index < b.Index }
	if err := add(inverting, func(p schema.LinkPlace) bool { return before(p, place.Now) }); err != nil {
		return err
	}
	if err := add(inverted, func(p schema.LinkPlace) bool { return !before(p, place.Old) }); err != nil {
		return err
	}
	for pair, anchors := range rows {
		want[pair] = fmt.Sprintf("%q", anchors)
	}
	return nil
}
