package observers

import (
	"context"
	"fmt"
	"slices"

	"indexer/internal/rank"
	"indexer/observers/pagerank"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// ranker keeps the ranks of semantics.md section 6 up to date.
//
//	watches  rank:push (weak only), at URL rows; at AppRow while there is a journal
//	reads    doc:links, url:state, rank:correction of the URLs it is woken for; rank:mass,
//	         rank:edges of these and of URLs downstream; url:walk of those whose rank it publishes;
//	         app:rank-tolerance, app:rank-journal
//	writes   rank:mass, rank:edges; removes rank:correction; app:rank-journal, app:rank-part
//	wakes    rerank (weak) of clusters with a member whose rank has changed; itself
//	         (weak); settle (weak) if edges have changed
//
// Of each URL it keeps what has come in (In, the sum of the shares of its sources) and
// the rank of which it last gave shares to its targets (Pushed). From the first follows
// the estimate 0.15 + 0.85·In; estimate − Pushed is the residual. A URL whose residual
// is above the bound pushes: it hands the difference on to its targets, whose own
// residuals grow by it, and so on until all are below the bound.
//
// # Invariants
//
// They hold in every snapshot, whatever is waiting, of the masses with the journal laid
// over them (rankjournal.go; VisitRankStates):
//
//  1. In(u) = Σ Pushed(v)/Out(v) and Inlinks(u) = number of v, over all v with u in
//     rank:edges of v; Out(v) is how many are there. A transaction that changes a
//     summand changes the sum: nothing is under way between URLs.
//  2. A URL with Inlinks and Out zero has no row, every other one has.
//  3. A URL whose rank:edges are not those of doc:links and url:state, or whose
//     residual is above the bound, has a notification, or gets it from the journal.
//  4. |rank:mass Rank − estimate| ≤ tolerance/4 of Rank; the two are equal where no
//     edge leads.
//
// By 1, edges come and go exactly: what a link passed on is what is taken back,
// to the last rounding. So is what a page passed on that is gone, newly nofollow, or
// leads elsewhere. By 2 nothing is lost and nothing counted twice.
//
// # Why no rank is off by more than the tolerance
//
// Let θ be the bound of residuals. At rest the error of an estimate is
// E(u) = 0.85·Σ (E(v)+residual(v))/Out(v), so |E(u)| ≤ (θ/0.15)·(rank(u) − 0.15):
// rank(u) is 0.15 times the same sum over all ways that lead to u, each way without
// its end. With θ = 0.15·¾·tolerance that is ¾ of the tolerance, whatever the graph
// looks like; publishing adds the fourth quarter. Ranks of URLs without inlinks are
// exact.
//
// # One run at a time
//
// A link changes the sums of its target, which other pages link to as well. Were each
// page's links a transaction, a popular target would be a hot spot. Common answers are
// a row for each addend, which something adds up and deletes later, or one counter for
// each writer. Here there is but one writer: the observer is Exclusive, and one run takes up
// to rankBatch URLs, works through all that follows from them in memory, and
// writes each sum once, however many addends it got. A target with a million inlinks
// costs a run one read and one write. docs/decisions/0008-ranks.md compares. Should two
// runs meet all the same (two processes), they conflict in the sums, and one is run again.
//
// # Why no change is missed
//
// document wakes us, in the transaction that changes links or target. We are the only
// ones who write what we read again. Whose rank changes is found by the
// cluster in url:walk: if we publish at P and have read a walk from before a
// change of it at C > the start of that run, then cluster, which wakes us at C, has us run
// again after P, and we wake the cluster then. (That is why a URL we are woken for always
// wakes its cluster, and has its mass written even if it is the same. Two runs of which
// neither sees the other conflict in app:rank-journal.)
type ranker struct {
	part   schema.PartSize // of edges
	limits pagerank.Limits
	report func(RankWork) // nil: nobody
}

func (x *ranker) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	tolerance, err := RankTolerance(ctx, tx)
	if err != nil {
		return err
	}
	w := newWave(tx, tolerance, x.part, x.limits)
	rows = slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return row == schema.AppRow })
	journal, err := readJournal(ctx, tx)
	if err != nil {
		return err
	}
	if journal.Parts > 0 { // rows are woken beside AppRow only after a restart
		w.later(rows)
		return applyPart(ctx, tx, journal)
	}
	for i, row := range rows {
		if w.tired() {
			w.later(rows[i:])
			break
		}
		if err := w.renew(ctx, row); err != nil {
			return fmt.Errorf("edges of %q: %w", row, err)
		}
	}
	if err := w.push(ctx); err != nil {
		return err
	}
	if err := w.write(ctx); err != nil {
		return err
	}
	if x.report != nil {
		x.report(w.work(len(rows)))
	}
	return nil
}

// RankWork is what a run of rank has done.
type RankWork struct {
	Woken  int // URLs that it was run for
	Rows   int // URLs whose mass it has read
	Pushes int // times that a URL has passed on its residual
	Edges  int // edges that residuals were passed along
}

func (w *wave) work(woken int) RankWork {
	return RankWork{Woken: woken, Rows: len(w.nodes), Pushes: w.pushes, Edges: w.visits}
}

// rankBatch is how many URLs a run is woken for.
const rankBatch = 16_384

// ResidualBound is how much of its rank a URL may keep to itself at rest, so that all
// published ranks are within a tolerance; see ranker.
func ResidualBound(tolerance float64) float64 { return rank.Teleport * 0.75 * tolerance }

// publishStep is by how much of it a rank must move to be published.
func publishStep(tolerance float64) float64 { return tolerance / 4 }

// RankTolerance is the relative error that published ranks keep to.
func RankTolerance(ctx context.Context, tx *txn.Txn) (float64, error) {
	v, err := tx.Get(ctx, schema.AppRow, schema.RankTolerance)
	if err != nil {
		return 0, err
	}
	return schema.DecodeTolerance(v.Data)
}

// edgesOf are the edges that a URL has by what was fetched, and where that was read.
func edgesOf(ctx context.Context, tx *txn.Txn, row string, known schema.StoredEdges) (schema.StoredEdges, error) {
	state, err := tx.GetOnce(ctx, row, schema.State)
	if err != nil {
		return known, err
	}
	links, err := tx.GetOnce(ctx, row, schema.Links)
	if err != nil {
		return known, err
	}
	if known.State == state.TS && known.Links == links.TS && state.Exists {
		return known, nil
	}
	now := schema.StoredEdges{State: state.TS, Links: links.TS}
	now.Targets, err = targetsOf(ctx, tx, row, state.Data)
	return now, err
}

// targetsOf are the rows that a URL with this state passes rank to (semantics.md section
// 6), ascending.
func targetsOf(ctx context.Context, tx *txn.Txn, row string, stateData []byte) ([]string, error) {
	if stateData == nil {
		return nil, nil
	}
	state, err := schema.DecodeURLState(stateData)
	if err != nil {
		return nil, err
	}
	switch {
	case state.Outcome == page.Redirect && state.Target != "":
		return []string{schema.URLRow(state.Target)}, nil
	case state.Outcome != page.Page:
		return nil, nil
	}
	links, err := openLinks(ctx, tx, row, schema.Links)
	if err != nil {
		return nil, err
	}
	var rows []string
	err = links.each(ctx, func(l schema.TargetLinks) error {
		rows = append(rows, schema.URLRow(l.Target))
		return ctx.Err()
	})
	slices.Sort(rows)
	return slices.Compact(rows), err
}
