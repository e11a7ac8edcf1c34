package observers

import (
	"context"
	"fmt"

	"indexer/index"
	"indexer/schema"
	"indexer/txn"
)

// rerank gives the index documents their ranks.
//
//	watches  index:ranked (weak only), at cluster rows
//	reads    member rows of the cluster, rank:mass of the members; index:doc
//	writes   index:doc; ranks in the index files; choice:x, with a choice that is to be made
//	wakes    index (weak), where another member has become canonical; settle (weak)
//
// It holds back while pages stream in, like index: ranks that move back and forth
// until they come to rest move a document at most once in that time.
//
// A rank goes to the index files without the text, under the timestamp of the snapshot
// that it was read at, like a document. index:doc is written even if nothing of it has
// changed: so we conflict with a run of index that has read older ranks and commits
// later. (A rank that went up and down again is no change to us, but may be to it.)
type reranker struct{ sink Sink }

func (x *reranker) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	var updates []index.RankUpdate
	for _, row := range rows {
		u, err := rerank(ctx, tx, row)
		if err != nil {
			return fmt.Errorf("rank of cluster %x: %w", row[:min(6, len(row))], err)
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

// rerank is the rank that a document gets, nil if it is index that has to do more.
func rerank(ctx context.Context, tx *txn.Txn, row string) (*index.RankUpdate, error) {
	key, err := schema.ParseClusterRow(row)
	if err != nil {
		return nil, err
	}
	d, err := assembleMembers(ctx, tx, key)
	if err != nil {
		return nil, err
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
	if stored.URL != d.Canonical {
		tx.Notify(row, schema.Dirty)
		return nil, nil
	}
	same := stored.Rank == d.Rank
	stored.Rank = d.Rank
	tx.Set(row, schema.Indexed, stored.Encode())
	if same {
		return nil, nil
	}
	return &index.RankUpdate{Cluster: key, Rank: d.Rank, Seq: tx.Start()}, nil
}
