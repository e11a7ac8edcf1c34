package observers

import (
	"context"
	"fmt"
	"iter"

	"github.com/webindexer/indexer/observers/cluster"
	"github.com/webindexer/indexer/observers/document"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// RankMember returns a member with its published rank. The tolerance is RankTolerance.
func RankMember(ctx context.Context, tx *txn.Txn, info schema.MemberInfo, tolerance float64) (cluster.Ranked, error) {
	return (&members{tx: tx, tolerance: tolerance}).ranked(ctx, info)
}

// members reads the members of a cluster in a transaction. It is a cluster.Reader; positions
// are member rows without the content key.
type members struct {
	tx        *txn.Txn
	key       page.ContentKey
	tolerance float64 // of ranks
	once      bool    // whether the transaction need not remember the ranks
}

func readMembers(ctx context.Context, tx *txn.Txn, key page.ContentKey) (*members, error) {
	tolerance, err := RankTolerance(ctx, tx)
	return &members{tx: tx, key: key, tolerance: tolerance}, err
}

// Members implements cluster.Reader.
func (m *members) Members(ctx context.Context, from, to string) iter.Seq2[cluster.Entry, error] {
	end := txn.PrefixEnd(schema.ClusterRow(m.key))
	if to != "" {
		end = schema.SummaryRow(m.key, to)
	}
	return func(yield func(cluster.Entry, error) bool) {
		err := m.tx.Scan(ctx, schema.GroupMember, schema.SummaryRow(m.key, from), end, func(row string, _ []txn.Version) error {
			e, err := m.entry(ctx, row)
			if err == nil && !yield(e, nil) {
				err = txn.ErrStop
			}
			return err
		})
		if err != nil {
			yield(cluster.Entry{}, err)
		}
	}
}

// entry returns the member of a row.
func (m *members) entry(ctx context.Context, row string) (cluster.Entry, error) {
	_, info, err := schema.ParseMemberRow(row)
	if err != nil {
		return cluster.Entry{}, err
	}
	_, at := schema.SplitMemberRow(row)
	r, err := m.ranked(ctx, info)
	return cluster.Entry{At: at, Ranked: r}, err
}

func (m *members) ranked(ctx context.Context, info schema.MemberInfo) (cluster.Ranked, error) {
	read := readRankState
	if m.once {
		read = rankStateOnce
	}
	s, err := read(ctx, m.tx, schema.URLRow(info.URL))
	if err != nil {
		return cluster.Ranked{}, fmt.Errorf("rank of member %s: %w", info.URL, err)
	}
	if s.Inlinks == 0 {
		return cluster.Unlinked(cluster.Member(info)), nil
	}
	return cluster.Linked(cluster.Member(info), s.Rank, m.tolerance), nil
}

// all yields all members.
func (m *members) all(ctx context.Context) iter.Seq2[cluster.Ranked, error] {
	return func(yield func(cluster.Ranked, error) bool) {
		for e, err := range m.Members(ctx, "", "") {
			if !yield(e.Ranked, err) {
				return
			}
		}
	}
}

// choose reads all members, and returns them with the choice. If there are more than a limit, it
// returns cluster.ErrIncomplete.
func (m *members) choose(ctx context.Context, limit int) (cluster.Choice, []document.Member, error) {
	var ranked []cluster.Ranked
	all := []document.Member{}
	for e, err := range m.Members(ctx, "", "") {
		if err != nil {
			return cluster.Choice{}, nil, err
		}
		if len(all) == limit {
			return cluster.Choice{}, nil, cluster.ErrIncomplete
		}
		ranked = append(ranked, e.Ranked)
		all = append(all, document.Member{At: e.At, URL: e.URL})
	}
	c, err := cluster.Choose(cluster.All(ranked))
	return c, all, err
}

// contenders reads the members that the canonical URL depends on.
func (m *members) contenders(ctx context.Context) (*cluster.Contenders, error) {
	m.once = true // a giant cluster may have a million members
	c := &cluster.Contenders{}
	for r, err := range m.all(ctx) {
		if err != nil {
			return nil, err
		}
		if !c.Add(r) {
			break
		}
	}
	return c, nil
}
