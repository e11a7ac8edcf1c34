package frontier

import (
	"context"
	"math"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// A host's new URLs are ordered by depth and rank: each factor of four above the rank
// of a page without inlinks counts as one link less from a seed, up to
// schema.MaxWeight. So a page that half the site links to is fetched before the second
// page of a list, and no page is put off for ever: a rank moves it by at most six
// places, then its depth decides.
//
// A URL is weighed when it is queued, when discover first sees that it is known, and
// again when the links to it have quadrupled (knowncache.go). It moves only when its rank
// has changed by a factor of four, so a URL moves a few times at most, however many links
// lead to it. The queue does not see rank changes without such a link. It only needs to
// be a good order, not an exact one.
//
// Revisits are ordered by when they are due.
//
// Rejected: an observer of ranks that moves queue rows. For every loaded page, ranks
// change by small amounts all over the graph, and most of these URLs have been fetched
// by then.

// Ranks returns the rank of a URL, with at most one read; 1 is the average of all
// ranks. observers.RankOf is one.
type Ranks func(ctx context.Context, tx *txn.Txn, u page.URL) (float64, error)

// weigh returns the weight of a URL by its rank.
func weigh(ctx context.Context, tx *txn.Txn, rules Decider, u page.URL) (int, error) {
	r, err := rules.Rank(ctx, tx, u)
	if err != nil {
		return 0, err
	}
	return weightOf(r), nil
}

func weightOf(rank float64) int {
	least := schema.NoRankState.Rank
	if !(rank > least) { // includes NaN
		return 0
	}
	return int(min(math.Log2(rank/least)/2, schema.MaxWeight))
}

// reweigh returns the new weight of an entry. It lowers a weight only by two steps at
// once, so that a rank that wavers around a border does not move the entry back and
// forth.
func reweigh(old, now int) int {
	if now < old && now > old-2 {
		return old
	}
	return now
}
