package observers

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/webindexer/indexer/observers/pagerank"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// ranker keeps the ranks of semantics.md section 6 up to date. Package pagerank computes
// them, and proves that none is off by more than the tolerance.
//
//	watches  rank:push (weak only), at URL rows; at AppRow while there is a journal
//	reads    doc:links, url:state, rank:correction of the URLs that it is woken for; rank:mass,
//	         rank:edges of these and of URLs downstream; url:walk of those whose rank it publishes;
//	         app:rank-tolerance, app:rank-journal
//	writes   rank:mass, rank:edges; removes rank:correction; app:rank-journal, app:rank-part
//	wakes    rerank (weak) of clusters with a member whose rank has changed; itself
//	         (weak); settle (weak) if edges have changed
//
// # Invariants
//
// They hold in every snapshot, whatever is waiting, for the rank states with the journal
// laid over them (rankjournal.go; VisitRankStates):
//
//  1. In(u) = Σ Pushed(v)/Out(v) and Inlinks(u) is the number of v, over all v with u in
//     rank:edges of v; Out(v) is the number of these edges. A transaction that changes a
//     summand changes the sum, so no rank is in transit between URLs.
//  2. A URL has a row if and only if Inlinks or Out is not zero.
//  3. A URL whose rank:edges are not those of doc:links and url:state, or whose residual
//     exceeds the bound, has a notification, or gets it from the journal.
//  4. |rank:mass Rank − estimate| ≤ tolerance/4 of Rank. The two are equal if the URL has
//     no inlinks.
//
// By 1, a page that is gone, newly nofollow, or leads elsewhere takes back exactly what its
// links passed on. By 2, nothing is lost and nothing is counted twice.
//
// # One run at a time
//
// A link changes the sum of its target, to which other pages also link. If the links of
// each page were a transaction, a popular target would be a hot spot. The usual solutions
// are a row for each addend, to be added up and deleted later, or one counter for each
// writer. Here there is only one writer: the observer is Exclusive. A run takes up to
// rankBatch URLs, works through all that follows from them in memory, and writes each sum
// once, however many addends it got. A target with a million inlinks costs a run one read
// and one write. docs/decisions/0008-ranks.md compares the solutions. If two runs overlap
// after all (in two processes), they conflict at app:rank-journal, and one of them runs again.
//
// # Why no change is missed
//
// document wakes us, in the transaction that changes links or target. No other observer
// writes what we read. url:walk says which cluster shows a changed rank: if we publish at P
// after reading a chain that changes at C, after the start of our run, then cluster wakes us
// at C, we run again after P, and then we wake the cluster. (That is why we always wake the
// cluster of a URL that we are woken for, and write its rank state even if it is the same.
// Two runs that do not see each other conflict at app:rank-journal.)
type ranker struct {
	part   schema.PartSize // of edges
	cells  int             // of edges that a run writes
	limits pagerank.Limits
	cache  *GraphCache
	report func(pagerank.Work) // nil: no report
}

// rankBatch is for how many URLs one run is woken. A burst of a load wakes rank for tens of
// thousands, and each run visits most of the web again.
const rankBatch = 65_536

// edgeCells is how many cells of edges a run writes by default before it leaves further URLs to
// a later run. Together with the rank states or the parts of a journal, they have to fit into one
// two-phase transaction, which has at most 65,536 cells (txn.ErrTooLarge). A commit that is too large
// would fail only after all the work is done.
const edgeCells = 48_000

func (x *ranker) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	x.cache.rankBegins(tx.Start())
	tolerance, err := RankTolerance(ctx, tx)
	if err != nil {
		return err
	}
	journal, err := readJournal(ctx, tx)
	if err != nil {
		return err
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(row string) bool { return row == schema.AppRow })
	if journal.Parts > 0 { // URLs are woken together with AppRow only after a restart
		pushLater(tx, rows)
		return applyPart(ctx, tx, journal)
	}
	graph := &rankRows{tx: tx, part: x.part, most: x.cells, cache: x.cache}
	limits := x.limits.Within(debug.SetMemoryLimit(-1)) // -1 only asks
	if tx.Shared() {
		limits.Ahead = rowsAhead
	}
	run := pagerank.NewRun(graph, tolerance, limits)
	if err := updateEdges(ctx, graph, run, rows); err != nil {
		return err
	}
	if err := run.Push(ctx); err != nil {
		return err
	}
	if err := writeRanks(ctx, tx, run); err != nil {
		return err
	}
	if x.report != nil {
		x.report(run.Work())
	}
	return nil
}

// updateEdges brings the edges of URLs up to date, and leaves the URLs for which this run has no
// room to a later one.
func updateEdges(ctx context.Context, graph *rankRows, run *pagerank.Run, rows []string) error {
	for len(rows) > 0 {
		list, err := graph.read(ctx, rows[:min(len(rows), rowsAhead)], run.Known)
		if err != nil {
			return err
		}
		for i := range list {
			if run.Full() || graph.full() {
				pushLater(graph.tx, rows[i:])
				return nil
			}
			if err := graph.update(ctx, run, &list[i]); err != nil {
				return fmt.Errorf("edges of %q: %w", list[i].row, err)
			}
		}
		rows = rows[len(list):]
	}
	return nil
}

// pushLater leaves URLs to a later run.
func pushLater(tx *txn.Txn, rows []string) {
	for _, row := range rows {
		tx.Notify(row, schema.Push)
	}
}
