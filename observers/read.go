package observers

import (
	"context"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// These functions read what the observers have written, for inspect, stats, verify and
// each other.

// OutcomeOf reads the outcome of a URL, with its state if it has one.
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

// LastFailure reads the newest failed fetch of a URL, or nil if there was none.
func LastFailure(ctx context.Context, tx *txn.Txn, u page.URL) (*schema.Failure, error) {
	v, err := tx.Get(ctx, schema.URLRow(u), schema.FetchFailure)
	if err != nil || !v.Exists {
		return nil, err
	}
	f, err := schema.DecodeFailure(v.Data)
	return &f, err
}

// RankOf reads the published rank of a URL.
func RankOf(ctx context.Context, tx *txn.Txn, u page.URL) (float64, error) {
	m, err := readRankState(ctx, tx, schema.URLRow(u))
	return m.Rank, err
}

// KnownRank reads the published rank of a URL, and whether any counting link or redirect
// starts or ends there.
func KnownRank(ctx context.Context, tx *txn.Txn, u page.URL) (rank float64, linked bool, err error) {
	m, err := readRankState(ctx, tx, schema.URLRow(u))
	return m.Rank, m.Inlinks > 0 || m.Out > 0, err
}

// TextOf reads title, text, language and outline of a page; they are empty if the URL is not a page.
func TextOf(ctx context.Context, tx *txn.Txn, u page.URL) (schema.StoredText, error) {
	v, err := tx.Get(ctx, schema.URLRow(u), schema.Text)
	if err != nil || !v.Exists {
		return schema.StoredText{}, err
	}
	return schema.DecodeText(v.Data)
}

// LinksOf reads the counting links of a page, by target. A target with very many anchors
// appears several times in succession.
func LinksOf(ctx context.Context, tx *txn.Txn, u page.URL) (links []schema.TargetLinks, err error) {
	list, err := openLinks(ctx, tx, schema.URLRow(u), schema.Links)
	if err != nil {
		return nil, err
	}
	err = list.each(ctx, func(l schema.TargetLinks) error {
		links = append(links, l)
		return nil
	})
	return links, err
}

// FramesOf reads the addresses of a page's frames, in the order of the page.
func FramesOf(ctx context.Context, tx *txn.Txn, u page.URL) ([]page.URL, error) {
	v, err := tx.Get(ctx, schema.URLRow(u), schema.Frames)
	if err != nil {
		return nil, err
	}
	return schema.DecodeURLs(v.Data)
}

// Way says where a URL leads along redirects and canonical links.
type Way struct {
	LeadsTo     page.URL // the next URL; "" if it leads nowhere
	HasTerminal bool
	Terminal    page.URL
	Cluster     page.ContentKey
}

// WayOf reads where a URL leads.
func WayOf(ctx context.Context, tx *txn.Txn, u page.URL) (Way, error) {
	chain, err := readChain(ctx, tx, schema.URLRow(u))
	if err != nil {
		return Way{}, err
	}
	return WayOfChain(chain), nil
}

// WayOfChain returns where the URL of a stored chain leads.
func WayOfChain(chain schema.StoredChain) Way {
	var w Way
	if len(chain) > 1 {
		w.LeadsTo = chain[1].URL
	}
	if t, ok := terminal(chain); ok {
		w.HasTerminal, w.Terminal, w.Cluster = true, t.URL, t.Key
	}
	return w
}

// readState reads what document has written about a URL, or false if it has written nothing.
func readState(ctx context.Context, tx *txn.Txn, row string) (schema.URLState, bool, error) {
	v, err := tx.Get(ctx, row, schema.State)
	if err != nil || !v.Exists {
		return schema.URLState{}, false, err
	}
	s, err := schema.DecodeURLState(v.Data)
	return s, true, err
}

// FetchedAt reads the time that is shown for a URL: the time of the fetch in force, or of a
// later revisit.
func FetchedAt(ctx context.Context, tx *txn.Txn, u page.URL) (time.Time, error) {
	row := schema.URLRow(u)
	if err := tx.Prefetch(ctx, row, schema.FetchTime, schema.FetchSeen); err != nil {
		return time.Time{}, err
	}
	stamp, _, err := schema.ReadFetchStamp(ctx, tx, u)
	if err != nil {
		return time.Time{}, err
	}
	seen, err := tx.Get(ctx, row, schema.FetchSeen)
	if err != nil || !seen.Exists {
		return stamp.Time, err
	}
	t, err := schema.DecodeTime(seen.Data)
	if t.After(stamp.Time) {
		return t, err
	}
	return stamp.Time, err
}

// each calls fn for every row.
func each(rows []string, fn func(row string) error) error {
	for _, row := range rows {
		if err := fn(row); err != nil {
			return err
		}
	}
	return nil
}
