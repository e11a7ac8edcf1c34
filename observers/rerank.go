package observers

import (
	"context"
	"errors"
	"fmt"

	"indexer/index"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// rerank gives the index documents their ranks, and keeps the sections of clusters with many
// members.
//
//	watches  index:ranked (weak only), at member rows and at cluster rows
//	reads    member rows of the cluster, rank:mass of the members, or its sections and those
//	         members whose sections are renewed; index:doc
//	writes   index:doc; ranks in the index files; choice:x, with a choice that is to be made;
//	         section:x
//	wakes    index (weak), where another member has become canonical, or the sections have become
//	         others; settle (weak); itself (weak), to go on
//
// It holds back while pages stream in, like index: ranks that move back and forth
// until they come to rest move a document at most once in that time.
//
// A rank goes to the index files without the text, under the timestamp of the snapshot
// that it was read at, like a document. index:doc is written even if nothing of it has
// changed: so we conflict with a run of index that has read older ranks and commits
// later. (A rank that went up and down again is no change to us, but may be to it.)
//
// One run at a time is under way (notify.Observer.Exclusive): those of one giant cluster would meet
// in its document.
type reranker struct {
	sink    Sink
	tracker *Tracker
}

func (x *reranker) run(ctx context.Context, tx *txn.Txn, rows []string) error {
	r, err := newRenewal(ctx, tx, len(rows))
	if err != nil {
		return err
	}
	var updates []index.RankUpdate
	order, members := byCluster(rows)
	for _, row := range order {
		if r.full() { // one that begins is gone through, by renew
			r.leave(row, members[row])
			continue
		}
		key, err := schema.ParseClusterRow(row)
		if err != nil {
			return err
		}
		u, err := x.cluster(ctx, r, key, members[row])
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

// leave leaves members of a cluster to another run.
func (r *renewal) leave(cluster string, members []string) {
	for _, at := range members {
		r.waiting--
		r.notify(cluster+at, schema.Ranked)
	}
}

// byCluster brings member rows together, in the order of the first of each cluster.
func byCluster(rows []string) (order []string, members map[string][]string) {
	members = make(map[string][]string, len(rows))
	for _, row := range rows {
		cluster, at := schema.SplitMemberRow(row)
		if _, known := members[cluster]; !known {
			order = append(order, cluster)
		}
		members[cluster] = append(members[cluster], at)
	}
	return order, members
}

// cluster ranks a cluster of which some members have changed: the rank that its document
// gets, nil if it is index that has to do more.
func (x *reranker) cluster(ctx context.Context, r *renewal, key page.ContentKey, members []string) (*index.RankUpdate, error) {
	s, err := readSections(ctx, r.tx, key)
	if err != nil {
		return nil, err
	}
	if len(s.list) == 0 {
		d, err := readCluster(ctx, r.tx, key)
		switch {
		case err == nil:
			r.waiting -= len(members)
			r.left -= d.Members
			return r.rerank(ctx, key, d)
		case !errors.Is(err, errUnread):
			return nil, err
		}
		r.begin(s)
		members = append(members, "")
		r.waiting++
	}
	if err := r.renew(ctx, s, members); err != nil {
		return nil, err
	}
	if s.total.Unread {
		return nil, nil
	}
	if s.total.Members <= giantMembers/2 {
		r.end(s)
		return nil, nil
	}
	d, err := chooseBySummaries(ctx, r.tx, s)
	var behind *behindError
	if errors.As(err, &behind) { // another run; ours may have come between two others
		r.notify(behind.row, schema.Ranked)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	x.tracker.searchable(memberURLRows(key, members))
	return r.rerank(ctx, key, d)
}

// memberURLRows are the URL rows of members, given by their rows without the content key.
func memberURLRows(key page.ContentKey, members []string) (rows []string) {
	for _, at := range members {
		if _, m, err := schema.ParseMemberRow(schema.SummaryRow(key, at)); err == nil { // else it is the cluster's
			rows = append(rows, schema.URLRow(m.URL))
		}
	}
	return rows
}

// rerank is the rank that the document of a cluster gets, nil if it is index that has to do
// more.
func (r *renewal) rerank(ctx context.Context, key page.ContentKey, d *choice) (*index.RankUpdate, error) {
	tx, row := r.tx, schema.ClusterRow(key)
	if r.room--; d.undecided != nil {
		r.room -= 2
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
	same := stored.Rank == d.Rank
	stored.Rank = d.Rank
	tx.Set(row, schema.Indexed, stored.Encode())
	if same {
		return nil, nil
	}
	return &index.RankUpdate{Cluster: key, Rank: d.Rank, Seq: tx.Start()}, nil
}
