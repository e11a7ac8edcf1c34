package observers

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/internal/rank"
	"github.com/webindexer/indexer/observers/cluster"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// tieBreaker is the observer "settle". It makes the choices that the published ranks
// leave open.
//
//	watches  app:settle (weak only), at the one row of the repository
//	reads    choice:x; rank:edges of the URLs that have changed, or rank:mass and rank:edges of
//	         all; member rows of the clusters
//	writes   choice:x
//	wakes    rerank (weak) of the clusters whose choice it has made or changed
//
// A rank is known within the tolerance. The ratio of two members' ranks can be so close to
// 0.99 that the canonical URL depends on where within the tolerance the ranks are. Then two
// repositories with the same fetches could choose differently, each by the history of its
// approximations. The answer has to be that of a full recomputation. So index and rerank
// register such a cluster when they find one (choice:x). We compute ranks as a full
// recomputation does, from the graph of our snapshot, only as exactly as the choice needs.
// Where exact ranks are equal, or their ratio is exactly 0.99, the computation ends at the
// limit of floating point, and the order of semantics.md section 4 decides.
//
// # Why choices stay right
//
// Exact ranks depend on edges alone. rank wakes us in each transaction that changes edges;
// index and rerank wake us when a cluster becomes contested, or is contested among new
// candidates. A choice made among other candidates is void. If the cluster is no longer
// contested, settle removes the choice; until then it has no readers.
//
// # What it costs
//
// Usually no cluster is contested, and a run reads an empty range: with the default
// tolerance, the ratio of two ranks has to be within 0.2 % of 0.99. If some clusters are
// contested, a run brings the graph of the last run up to date (GraphCache), or reads all of it,
// whenever edges have changed and the pipeline has become idle, or once in tiebreakDebounce while
// it has not. Unless a caller waits for the pipeline, that is at most a tenth of the time, or
// once in ten minutes.
//
// # Rejected
//
//   - A smaller tolerance for all ranks until no choice is open. Each later change would
//     touch more URLs, in proportion to the smaller tolerance.
//   - Hysteresis, which keeps the URL that was chosen first. Then the answer would depend
//     on the order of arrival.
//   - Computing only the few ranks that matter, backwards from the members. Whatever leads
//     to a popular page is most of the web, and one scan of the whole graph is cheaper than
//     point reads of half of it.
type tieBreaker struct {
	cache *GraphCache
}

func (b *tieBreaker) run(ctx context.Context, tx *txn.Txn, _ []string) error {
	open, err := openChoices(ctx, tx)
	if err != nil || len(open) == 0 {
		return err
	}
	ties := make([]*cluster.Tie, len(open))
	for i, c := range open {
		ties[i] = c.tie
	}
	if err := cluster.BreakTies(ctx, ties, exactRanks(tx, b.cache)); err != nil {
		return fmt.Errorf("settle %d canonical URLs: %w", len(open), err)
	}
	written := 0
	for _, c := range open {
		if c.write(tx) {
			written++
		}
		if written == tiebreakWrites { // the next run writes the rest
			tx.Notify(schema.AppRow, schema.Tiebreak)
			break
		}
	}
	return nil
}

// tiebreakWrites bounds how many choices a run writes.
const tiebreakWrites = 2000

// openChoice is a cluster that is registered as contested.
type openChoice struct {
	row    string
	stored schema.StoredChoice
	among  cluster.Candidates
	tie    *cluster.Tie
}

// openChoices reads all open choices.
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
		m, err := readMembers(ctx, tx, key)
		if err != nil {
			return nil, err
		}
		contenders, err := m.contenders(ctx)
		if err != nil {
			return nil, err
		}
		c.among, c.tie = contenders.Among, cluster.NewTie(contenders.List)
	}
	return open, nil
}

// exactRanks solves the link graph of a snapshot, beginning with the ranks of the last run or
// with the published ones.
func exactRanks(tx *txn.Txn, cache *GraphCache) cluster.Solver {
	return func(ctx context.Context, enough func(cluster.Ranks) bool) error {
		g, err := cache.graph(ctx, tx)
		if err != nil {
			return err
		}
		s, err := rank.Refine(ctx, g.OutGraph, rank.Refinement{Start: g.Ranks, Enough: func(ranks []float64, tolerance float64) bool {
			return enough(cluster.Ranks{
				Of:        func(u page.URL) float64 { return g.Rank(ranks, schema.URLRow(u)) },
				Tolerance: tolerance,
			})
		}})
		if err != nil {
			return err
		}
		return cache.write(ctx, g, s.Ranks)
	}
}

// write writes a choice if it differs from the stored one, and removes one that is no
// longer contested. It reports whether it has written.
func (c *openChoice) write(tx *txn.Txn) bool {
	made := schema.StoredChoice{Among: c.among.Bytes(), URL: c.tie.Canonical}
	switch {
	case !c.tie.Contested:
		tx.Delete(c.row, schema.Choice)
	case made != c.stored:
		tx.Set(c.row, schema.Choice, made.Encode())
	default:
		return false
	}
	tx.Notify(c.row, schema.Ranked)
	return true
}
