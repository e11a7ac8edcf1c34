package observers

import (
	"context"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/observers/cluster"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// reranker gives index documents their ranks, and keeps the member summaries of giant
// clusters.
//
//	watches  index:ranked (weak only), at member rows and at cluster rows
//	reads    member rows of the cluster and rank:mass of the members, or its summaries and
//	         the members whose summaries are renewed; index:doc
//	writes   index:doc; ranks in the index files; choice:x, to have a choice made; section:x
//	wakes    index (weak), if another member has become canonical, or summaries that were
//	         incomplete are read; settle (weak); itself (weak), to continue
//
// Like index, it is debounced while pages stream in: ranks that move back and forth until
// they come to rest move a document at most once in that time.
//
// A rank goes to the index files without the text, under the timestamp of the snapshot at
// which it was read, like a document. Both are written even if index:doc has that rank already:
//
//  1. index:doc, so that we conflict with a run of index that has read older ranks and commits
//     later. (A rank that went up and down again is not a change for us, but may be a change for
//     that run.)
//  2. The index files, because they may be ahead of index:doc. A run that wrote another rank to
//     them may have died or had a conflict before its commit, and the rank may have changed back.
//
// Only one run is under way at a time (notify.Observer.Exclusive): two runs for one giant
// cluster would conflict in its document.
type reranker struct {
	sink    Sink
	tracker *Tracker
	limits  cluster.Limits
}

// rerankBatch is how many members one run is woken for. cluster.Limits.Writes must have room for
// more than twice as many. Otherwise the budget of a full batch is spent before the first cluster,
// and the run only wakes itself, for ever.
const rerankBatch = 256

func (x *reranker) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	var updates []index.RankUpdate
	budget := cluster.NewBudget(x.limits, len(rows))
	order, positions := byCluster(rows)
	for i, row := range order {
		if i%rowsAhead == 0 {
			if err := readClustersAhead(ctx, tx, order[i:min(len(order), i+rowsAhead)], positions); err != nil {
				return err
			}
		}
		if budget.Spent() { // a cluster, once begun, is finished
			for _, at := range positions[row] {
				tx.Notify(row+at, schema.Ranked)
			}
			budget.Left(len(positions[row]))
			continue
		}
		key, err := schema.ParseClusterRow(row)
		if err != nil {
			return err
		}
		d, err := x.choose(ctx, tx, budget, key, positions[row])
		if err != nil {
			return fmt.Errorf("rank of cluster %x: %w", key[:6], err)
		}
		if d == nil {
			continue
		}
		u, err := rerank(ctx, tx, budget, key, d)
		if err != nil {
			return fmt.Errorf("rank of cluster %x: %w", key[:6], err)
		}
		if u != nil {
			updates = append(updates, *u)
		}
	}
	if len(updates) == 0 {
		return nil
	}
	if err := x.sink.SetRanks(ctx, updates); err != nil {
		return fmt.Errorf("write ranks to the index files: %w", err)
	}
	return nil
}

// readClustersAhead reads ahead what the choice reads of each of these clusters: its members, if
// one page holds them, and their ranks, as well as the ranks of the members that woke the run.
func readClustersAhead(ctx context.Context, tx *txn.Txn, rows []string, positions map[string][]string) error {
	if !tx.Shared() {
		return nil
	}
	members, err := tx.ScanAhead(ctx, schema.GroupMember, rows)
	if err != nil {
		return err
	}
	for _, row := range rows {
		for _, at := range positions[row] {
			members = append(members, row+at)
		}
	}
	slices.Sort(members)
	var urls []string
	for _, row := range slices.Compact(members) {
		if _, m, err := schema.ParseMemberRow(row); err == nil { // else it is the row of a cluster
			urls = append(urls, schema.URLRow(m.URL))
		}
	}
	return tx.ReadAhead(ctx,
		txn.Ahead{Rows: rows, Columns: []txn.Column{schema.Summary, schema.Indexed}},
		txn.Ahead{Rows: urls[:min(len(urls), mostAhead)], Columns: []txn.Column{schema.RankState}})
}

// byCluster groups member rows by cluster, in the order of the first row of each, and cuts
// them to positions in the cluster.
func byCluster(rows []string) (order []string, positions map[string][]string) {
	positions = make(map[string][]string, len(rows))
	for _, row := range rows {
		of, at := schema.SplitMemberRow(row)
		if _, known := positions[of]; !known {
			order = append(order, of)
		}
		positions[of] = append(positions[of], at)
	}
	return order, positions
}

// rerank gives the document of a cluster its rank. It returns nil if there is no document, or
// if index has more to do; in that case it wakes index.
func rerank(ctx context.Context, tx *txn.Txn, budget *cluster.Budget, key page.ContentKey, d *choice) (*index.RankUpdate, error) {
	row := schema.ClusterRow(key)
	if budget.Wrote(1); d.undecided != nil {
		budget.Wrote(2)
	}
	d.contest(tx, row)
	v, err := tx.Get(ctx, row, schema.Indexed)
	if err != nil {
		return nil, err
	}
	if !v.Exists {
		if d.Canonical != "" {
			tx.Notify(row, schema.Dirty)
		}
		return nil, nil
	}
	stored, err := schema.DecodeIndexed(v.Data)
	if err != nil {
		return nil, err
	}
	if stored.URL != d.Canonical || stored.Members != d.Members {
		tx.Notify(row, schema.Dirty)
		return nil, nil
	}
	stored.Rank = d.Rank
	tx.Set(row, schema.Indexed, stored.Encode())
	return &index.RankUpdate{Cluster: key, Rank: d.Rank, Seq: tx.Start()}, nil
}
