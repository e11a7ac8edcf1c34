package frontier

import (
	"context"
	"math"

	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// New URLs of a host stand by depth, and by what their rank is worth: each factor of
// four above the rank of a page that nobody links to counts as one link less from a
// seed, up to schema.MaxWeight. So a page that half the site links to is fetched
// before the second page of a list, and no page is put off for ever: a rank moves it
// by six places, then its depth decides.
//
// A URL is weighed when it is queued, and again whenever another page with a link to
// it was loaded: that is what changes its rank, and the entry has been read then
// anyway. It is moved only when its rank has changed by a factor of four, so a URL is
// moved a few times at most however many links lead to it. What the ranks do meanwhile
// without such a link is not noticed: the queue is an order in which to begin, and
// nothing that has to be right.
//
// Revisits are ordered by when they are due.
//
// Rejected: an observer of ranks that moves queue rows. Ranks change by small amounts
// all over the graph for every page that is loaded; most of these URLs have been
// fetched by then.

// Ranks tells the rank of a URL, with one read at most; 1 is the average of all.
// observers.RankOf is one.
type Ranks func(ctx context.Context, tx *txn.Txn, u page.URL) (float64, error)

// weigh is the weight of a URL by its rank.
func weigh(ctx context.Context, tx *txn.Txn, rules Decider, u page.URL) (int, error) {
	r, err := rules.Rank(ctx, tx, u)
	if err != nil {
		return 0, err
	}
	return weightOf(r), nil
}

func weightOf(rank float64) int {
	least := schema.NoMass.Rank
	if !(rank > least) { // also what is no number
		return 0
	}
	return int(min(math.Log2(rank/least)/2, schema.MaxWeight))
}

// reweigh is the weight that an entry gets that had another. Downwards it takes two
// steps, so that a rank that wavers about a border does not move it to and fro.
func reweigh(old, now int) int {
	if now < old && now > old-2 {
		return old
	}
	return now
}
