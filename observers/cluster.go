package observers

import (
	"bytes"
	"context"

	"github.com/webindexer/indexer/observers/cluster"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// resolve is the observer "cluster". It finds the terminal of a URL, and thereby its cluster.
//
//	watches  url:state; also woken by spread (weak) when the chain ahead has changed
//	reads    url:state and url:walk of the URL, url:walk of its target
//	writes   url:walk; the member rows of the clusters that the URL leaves and joins
//	wakes    spread (url:walk), index (weak) of both clusters, rerank (weak) at both member
//	         rows, rank (weak) of the URL: rank may have looked for the cluster just before
//
// resolve writes member rows without reading them, one for each member. However large a
// cluster is, two of its members never conflict in a cell.
func resolve(ctx context.Context, tx *txn.Txn, rows []string) error {
	return each(rows, func(row string) error {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		old, now, err := chains(ctx, tx, u, row)
		if err != nil {
			return err
		}
		if bytes.Equal(old.Encode(), now.Encode()) {
			return nil
		}
		// A URL that loses its chain keeps an empty one: spread distinguishes versions by
		// their timestamps, and a deleted cell has none.
		tx.Set(row, schema.Chain, now.Encode())
		moveMember(tx, u, old, now)
		return nil
	})
}

// chains reads the stored chain of a URL and computes its current chain.
func chains(ctx context.Context, tx *txn.Txn, u page.URL, row string) (old, now schema.StoredChain, err error) {
	if err := tx.Prefetch(ctx, row, schema.State, schema.Chain); err != nil {
		return nil, nil, err
	}
	state, known, err := readState(ctx, tx, row)
	if err != nil || !known {
		return nil, nil, err
	}
	if old, err = readChain(ctx, tx, row); err != nil {
		return nil, nil, err
	}
	var ahead schema.StoredChain
	if state.Target != "" && state.Target != u {
		if ahead, err = readChain(ctx, tx, schema.URLRow(state.Target)); err != nil {
			return nil, nil, err
		}
	}
	return old, extend(u, state, ahead), nil
}

// extend computes the chain of a URL from its state and the chain of its target.
func extend(u page.URL, state schema.URLState, ahead schema.StoredChain) schema.StoredChain {
	s := cluster.State{Outcome: state.Outcome, NoIndex: state.NoIndex, Target: state.Target, Key: state.Key}
	return storedChain(cluster.Extend(u, s, coreChain(ahead)))
}

func readChain(ctx context.Context, tx *txn.Txn, row string) (schema.StoredChain, error) {
	v, err := tx.Get(ctx, row, schema.Chain)
	if err != nil {
		return nil, err
	}
	return schema.DecodeChain(v.Data)
}

// moveMember moves a URL to the cluster that its new chain leads to.
func moveMember(tx *txn.Txn, u page.URL, old, now schema.StoredChain) {
	from, was := coreChain(old).Membership(u)
	to, is := coreChain(now).Membership(u)
	if was == is && from == to {
		return
	}
	tx.Notify(schema.URLRow(u), schema.Push)
	if was {
		row := schema.MemberRow(from.Key, schema.MemberInfo(from.Member))
		tx.Delete(row, schema.Member)
		tx.Notify(row, schema.Ranked)
		tx.Notify(schema.ClusterRow(from.Key), schema.Dirty)
	}
	if is {
		row := schema.MemberRow(to.Key, schema.MemberInfo(to.Member))
		tx.Create(row, schema.Member, nil)
		tx.Notify(row, schema.Ranked)
		tx.Notify(schema.ClusterRow(to.Key), schema.Dirty)
	}
}

// terminal returns the page at which a stored chain ends.
func terminal(c schema.StoredChain) (cluster.Hop, bool) { return coreChain(c).Terminal() }

// terminalOf reads the page to which a URL leads, if any.
func terminalOf(ctx context.Context, tx *txn.Txn, u page.URL) (cluster.Hop, bool, error) {
	v, err := tx.GetOnce(ctx, schema.URLRow(u), schema.Chain)
	if err != nil {
		return cluster.Hop{}, false, err
	}
	chain, err := schema.DecodeChain(v.Data)
	end, ok := terminal(chain)
	return end, ok && err == nil, err
}

// A chain has the same length in the core and in the table.
const (
	_ = uint(schema.MaxChain - cluster.MaxChain)
	_ = uint(cluster.MaxChain - schema.MaxChain)
)

func coreChain(c schema.StoredChain) cluster.Chain { return convert[cluster.Chain](c, toCore) }

func storedChain(c cluster.Chain) schema.StoredChain { return convert[schema.StoredChain](c, toStored) }

func toCore(h schema.Hop) cluster.Hop   { return cluster.Hop(h) }
func toStored(h cluster.Hop) schema.Hop { return schema.Hop(h) }

// convert converts a chain hop by hop. Nil stays nil.
func convert[To ~[]T, From ~[]F, T, F any](from From, hop func(F) T) To {
	if from == nil {
		return nil
	}
	to := make(To, len(from))
	for i, h := range from {
		to[i] = hop(h)
	}
	return to
}
