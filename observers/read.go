package observers

import (
	"context"

	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// These read what the observers left, for inspect, stats and verify.

// OutcomeOf is the outcome of a URL, with its state if it has one.
func OutcomeOf(ctx context.Context, tx *txn.Txn, u page.URL) (schema.URLState, page.Outcome, error) {
	s, known, err := readState(ctx, tx, schema.URLRow(u))
	if err != nil || known {
		return s, s.Outcome, err
	}
	failure, err := LastFailure(ctx, tx, u)
	if err != nil || failure == nil {
		return s, page.Unfetched, err
	}
	return s, page.Failed, nil
}

// LastFailure is the newest failed fetch of a URL, nil if there was none.
func LastFailure(ctx context.Context, tx *txn.Txn, u page.URL) (*schema.Failure, error) {
	v, err := tx.Get(ctx, schema.URLRow(u), schema.FetchFailure)
	if err != nil || !v.Exists {
		return nil, err
	}
	f, err := schema.DecodeFailure(v.Data)
	return &f, err
}

// RankOf is the rank of a URL, as published.
func RankOf(ctx context.Context, tx *txn.Txn, u page.URL) (float64, error) {
	m, err := readRankState(ctx, tx, schema.URLRow(u))
	return m.Rank, err
}

// KnownRank is RankOf, and whether any counting link or redirect begins or ends at the URL.
func KnownRank(ctx context.Context, tx *txn.Txn, u page.URL) (rank float64, linked bool, err error) {
	m, err := readRankState(ctx, tx, schema.URLRow(u))
	return m.Rank, m.Inlinks > 0 || m.Out > 0, err
}

// TextOf is title, text and language of a page; empty for what is no page.
func TextOf(ctx context.Context, tx *txn.Txn, u page.URL) (schema.StoredText, error) {
	return readText(ctx, tx, u)
}

// LinksOf are the counting links of a page, by target.
func LinksOf(ctx context.Context, tx *txn.Txn, u page.URL) ([]schema.TargetLinks, error) {
	var links []schema.TargetLinks
	err := VisitLinks(ctx, tx, u, func(l schema.TargetLinks) error {
		links = append(links, l)
		return nil
	})
	return links, err
}

// VisitLinks calls fn for the counting links of a page, by target, and has few of them in
// memory at a time. A target with very many anchors comes several times in a row.
func VisitLinks(ctx context.Context, tx *txn.Txn, u page.URL, fn func(schema.TargetLinks) error) error {
	links, err := openLinks(ctx, tx, schema.URLRow(u), schema.Links)
	if err != nil {
		return err
	}
	return links.each(ctx, fn)
}

// FramesOf are the addresses of a page's frames, in the order of the page.
func FramesOf(ctx context.Context, tx *txn.Txn, u page.URL) ([]page.URL, error) {
	v, err := tx.Get(ctx, schema.URLRow(u), schema.Frames)
	if err != nil {
		return nil, err
	}
	return schema.DecodeURLs(v.Data)
}

// Way is where a URL leads.
type Way struct {
	LeadsTo     page.URL // the next URL; "" if it leads nowhere
	HasTerminal bool
	Terminal    page.URL
	Cluster     page.ContentKey
}

// WayOf is where a URL leads, as clustering has it.
func WayOf(ctx context.Context, tx *txn.Txn, u page.URL) (Way, error) {
	walk, err := readWalk(ctx, tx, schema.URLRow(u))
	if err != nil {
		return Way{}, err
	}
	return WayOfWalk(walk), nil
}

// WayOfWalk is the Way that a stored walk means.
func WayOfWalk(walk schema.StoredChain) Way {
	var w Way
	if len(walk) > 1 {
		w.LeadsTo = walk[1].URL
	}
	if t, ok := terminal(walk); ok {
		w.HasTerminal, w.Terminal, w.Cluster = true, t.URL, t.Key
	}
	return w
}
