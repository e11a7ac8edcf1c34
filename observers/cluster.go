package observers

import (
	"bytes"
	"context"

	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// cluster finds the terminal of a URL, and so its cluster.
//
//	watches  url:state; also woken by spread (weak) when the walk ahead changed
//	reads    url:state and url:walk of the URL, url:walk of its target
//	writes   url:walk; the member rows of the clusters it leaves and joins
//	wakes    spread (url:walk), index (weak) of both clusters, rerank (weak) at both member
//	         rows, rank (weak) of the URL: it may have looked for the cluster just before
//
// Member rows are written blindly, one for each member: however large a cluster
// is, two of its members never meet in a cell.
func cluster(ctx context.Context, tx *txn.Txn, rows []string) error {
	return each(rows, func(row string) error {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		old, now, err := walks(ctx, tx, u, row)
		if err != nil {
			return err
		}
		if bytes.Equal(old.Encode(), now.Encode()) {
			return nil
		}
		// A URL that has no walk any more keeps an empty one: spread tells versions
		// apart by their timestamps, and what is deleted has none.
		tx.Set(row, schema.Chain, now.Encode())
		moveMember(tx, u, old, now)
		return nil
	})
}

// walks reads the stored walk of a URL and computes the present one.
func walks(ctx context.Context, tx *txn.Txn, u page.URL, row string) (old, now schema.StoredChain, err error) {
	if _, err := tx.GetRow(ctx, row, schema.GroupURL); err != nil {
		return nil, nil, err
	}
	state, known, err := readState(ctx, tx, row)
	if err != nil || !known {
		return nil, nil, err
	}
	if old, err = readWalk(ctx, tx, row); err != nil {
		return nil, nil, err
	}
	var ahead schema.StoredChain
	if state.Target != "" && state.Target != u {
		if ahead, err = readWalk(ctx, tx, schema.URLRow(state.Target)); err != nil {
			return nil, nil, err
		}
	}
	return old, extend(u, state, ahead), nil
}

func readWalk(ctx context.Context, tx *txn.Txn, row string) (schema.StoredChain, error) {
	v, err := tx.Get(ctx, row, schema.Chain)
	if err != nil {
		return nil, err
	}
	return schema.DecodeChain(v.Data)
}

// membership is where a walk makes its URL a member, and as what.
type membership struct {
	key  page.ContentKey
	info schema.MemberInfo
}

func membershipOf(u page.URL, w schema.StoredChain) (membership, bool) {
	t, ok := terminal(w)
	if !ok {
		return membership{}, false
	}
	return membership{t.Key, schema.MemberInfo{URL: u, Eligible: t.URL == u && !t.NoIndex}}, true
}

func moveMember(tx *txn.Txn, u page.URL, old, now schema.StoredChain) {
	from, was := membershipOf(u, old)
	to, is := membershipOf(u, now)
	if was == is && from == to {
		return
	}
	tx.Notify(schema.URLRow(u), schema.Push)
	if was {
		row := schema.MemberRow(from.key, from.info)
		tx.Delete(row, schema.Member)
		tx.Notify(row, schema.Ranked)
		tx.Notify(schema.ClusterRow(from.key), schema.Dirty)
	}
	if is {
		row := schema.MemberRow(to.key, to.info)
		tx.Set(row, schema.Member, nil)
		tx.Notify(row, schema.Ranked)
		tx.Notify(schema.ClusterRow(to.key), schema.Dirty)
	}
}
