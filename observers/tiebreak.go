package observers

import (
	"context"
	"fmt"

	"indexer/internal/rank"
	"indexer/observers/pagerank"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// settle makes the choices that the published ranks leave open.
//
//	watches  app:settle (weak only), at the one row of the repository
//	reads    choice:x; rank:mass, rank:edges of all URLs; member rows of the clusters
//	writes   choice:x
//	wakes    rerank (weak) of the clusters whose choice it has made or changed
//
// A rank is known within the tolerance. Where two members of a cluster are so near to
// 0.99 of each other that the canonical URL depends on where within it they are, two
// repositories with the same fetches could choose differently, each by the history of
// its approximations. The answer has to be the one that a batch would give. So index and
// rerank, who meet such a cluster, register it (choice:x), and we compute ranks as a
// batch does, from the graph of our snapshot, just as far as it takes to tell; where
// exact ranks are equal, or exactly at 0.99, that is at the limit of floating point, and
// section 4's order decides.
//
// # Why choices stay right
//
// Exact ranks depend on edges alone. rank wakes us in each transaction that changes
// edges, index and rerank when a cluster becomes contested, or is contested among others.
// A choice that was made is void among others. One that is no longer contested is removed
// here, and nobody reads it in between.
//
// # What it costs
//
// Nothing but a look at an empty range where no cluster is contested, which is the rule:
// with the default tolerance the ranks must agree to 0.2 % with a ratio of 0.99. If some
// are, a read of the whole graph and some iterations whenever edges have changed and the
// pipeline has come to rest: at least settleDebounce apart while it has not.
//
// Rejected: a smaller tolerance for everybody, until no choice is open (each change
// would touch as many more URLs as it is smaller, for ever); hysteresis, which keeps
// the URL chosen first (the answer would depend on the order of arrival); computing
// the few ranks that matter backwards from the members (all that leads to a popular page
// is most of the web, and the whole graph in one scan is cheaper than half of it by
// point reads).
func settle(ctx context.Context, tx *txn.Txn, _ []string) error {
	open, err := openChoices(ctx, tx)
	if err != nil || len(open) == 0 {
		return err
	}
	if err := solveChoices(ctx, tx, open); err != nil {
		return fmt.Errorf("settle %d canonical URLs: %w", len(open), err)
	}
	written := 0
	for _, c := range open {
		if c.write(tx) {
			written++
		}
		if written == settleWrites { // the rest in another run
			tx.Notify(schema.AppRow, schema.Tiebreak)
			break
		}
	}
	return nil
}

// settleWrites bounds how many choices a run writes.
const settleWrites = 2000

// openChoice is the choice of a contested cluster.
type openChoice struct {
	row       string
	stored    schema.StoredChoice
	members   []RankedMember // contenders
	contested bool
	made      schema.StoredChoice
}

// openChoices lists the clusters that are registered as contested.
func openChoices(ctx context.Context, tx *txn.Txn) ([]*openChoice, error) {
	var open []*openChoice
	err := tx.Scan(ctx, schema.GroupChoice, "", "", func(row string, cols []txn.Version) error {
		stored, err := schema.DecodeChoice(cols[0].Data)
		open = append(open, &openChoice{row: row, stored: stored})
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, c := range open {
		key, err := schema.ParseClusterRow(c.row)
		if err != nil {
			return nil, err
		}
		if c.members, c.made.Among, err = contenders(ctx, tx, key); err != nil {
			return nil, err
		}
		_, c.contested = choose(c.members)
	}
	return open, nil
}

// solveChoices computes ranks until every choice that is contested can be told.
func solveChoices(ctx context.Context, tx *txn.Txn, open []*openChoice) error {
	contested := 0
	for _, c := range open {
		if c.contested {
			contested++
		}
	}
	if contested == 0 {
		return nil
	}
	g, err := ReadRankGraph(ctx, tx)
	if err != nil {
		return err
	}
	told := func(ranks []float64, tolerance float64) bool {
		all := true
		for _, c := range open {
			if c.contested {
				undecided := false
				c.made.URL, undecided = c.choose(g, ranks, tolerance)
				all = all && !undecided
			}
		}
		return all
	}
	_, err = rank.Solve(ctx, g.Graph, rank.Options{Start: g.Ranks, Enough: told})
	return err
}

// choose chooses by other ranks than the published ones.
func (c *openChoice) choose(g *pagerank.Graph, ranks []float64, tolerance float64) (page.URL, bool) {
	members := make([]RankedMember, len(c.members))
	for i, m := range c.members {
		r := g.Rank(ranks, schema.URLRow(m.URL))
		members[i] = RankedMember{m.MemberInfo, r, r / (1 + tolerance), r / max(1-tolerance, 1e-9)}
	}
	return choose(members)
}

// write writes a choice that is not the stored one; one that is not contested any more
// is removed.
func (c *openChoice) write(tx *txn.Txn) bool {
	switch {
	case !c.contested:
		tx.Delete(c.row, schema.Choice)
	case c.made != c.stored:
		tx.Set(c.row, schema.Choice, c.made.Encode())
	default:
		return false
	}
	tx.Notify(c.row, schema.Ranked)
	return true
}
