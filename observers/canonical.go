package observers

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"indexer/observers/cluster"
	"indexer/observers/document"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// choice is what ranks decide about a cluster at a snapshot.
type choice struct {
	document.Choice
	// undecided is a tie that settle has to break; nil if there is none.
	undecided *schema.StoredChoice
}

// readCluster chooses the canonical URL of a cluster, by its summaries if it has any. For a
// giant cluster it can also fail with cluster.ErrUnread or a cluster.OutdatedError.
func readCluster(ctx context.Context, tx *txn.Txn, key page.ContentKey, limits cluster.Limits) (*choice, error) {
	s, err := readSummaries(ctx, tx, key)
	if err != nil {
		return nil, err
	}
	m, err := readMembers(ctx, tx, key)
	if err != nil {
		return nil, err
	}
	var c cluster.Choice
	if len(s.Parts) > 0 {
		c, err = s.Choose(ctx, m, m.tolerance, limits)
	} else {
		c, err = m.choose(ctx, limits.WithDefaults().Giant)
	}
	if err != nil {
		return nil, err
	}
	return breakTie(ctx, tx, key, c)
}

// chooseNow is readCluster without the two errors that mean "later": if the summaries cannot
// tell, it reads all members, twice.
func chooseNow(ctx context.Context, tx *txn.Txn, key page.ContentKey) (*choice, error) {
	c, err := readCluster(ctx, tx, key, cluster.Limits{})
	var outdated *cluster.OutdatedError
	if !errors.Is(err, cluster.ErrUnread) && !errors.As(err, &outdated) {
		return c, err
	}
	m, err := readMembers(ctx, tx, key)
	if err != nil {
		return nil, err
	}
	all, err := cluster.Choose(m.all(ctx))
	if err != nil {
		return nil, err
	}
	return breakTie(ctx, tx, key, all)
}

// breakTie replaces a contested choice by the one that settle has made among the same
// candidates.
func breakTie(ctx context.Context, tx *txn.Txn, key page.ContentKey, c cluster.Choice) (*choice, error) {
	broken := &choice{Choice: document.Choice{Canonical: c.Canonical, Members: c.Members, Rank: c.Rank}}
	if !c.Contested {
		return broken, nil
	}
	stored, known, err := readChoice(ctx, tx, schema.ClusterRow(key))
	switch {
	case err != nil:
		return nil, err
	case !known || stored.Among != c.Among.Bytes():
		broken.undecided = &schema.StoredChoice{Among: c.Among.Bytes()}
	case stored.URL != "":
		broken.Canonical = stored.URL
	}
	return broken, nil
}

// contest registers a cluster whose tie settle has to break.
func (c *choice) contest(tx *txn.Txn, row string) {
	if c.undecided != nil {
		tx.Set(row, schema.Choice, c.undecided.Encode())
		tx.Notify(schema.AppRow, schema.Tiebreak)
	}
}

// readChoice reads the choice that settle has made for the cluster of a row, false if the
// cluster is not registered as contested.
func readChoice(ctx context.Context, tx *txn.Txn, row string) (schema.StoredChoice, bool, error) {
	v, err := tx.Get(ctx, row, schema.Choice)
	if err != nil || !v.Exists {
		return schema.StoredChoice{}, false, err
	}
	c, err := schema.DecodeChoice(v.Data)
	return c, true, err
}

// BrokenTie is the canonical URL that settle has chosen among the candidates of a contested
// cluster, "" as long as it has not.
func BrokenTie(ctx context.Context, tx *txn.Txn, key page.ContentKey, among cluster.Candidates) (page.URL, error) {
	stored, known, err := readChoice(ctx, tx, schema.ClusterRow(key))
	if err != nil || !known || stored.Among != among.Bytes() {
		return "", err
	}
	return stored.URL, nil
}

// RankMember is a member with its published rank. The tolerance is RankTolerance.
func RankMember(ctx context.Context, tx *txn.Txn, info schema.MemberInfo, tolerance float64) (cluster.Ranked, error) {
	return (&members{tx: tx, tolerance: tolerance}).ranked(ctx, info)
}

// members reads the members of a cluster in a transaction. It is a cluster.Reader; positions
// are member rows without the content key.
type members struct {
	tx        *txn.Txn
	key       page.ContentKey
	tolerance float64 // of ranks
	once      bool    // the transaction need not remember the ranks
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

// entry is the member of a row.
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
	get := m.tx.Get
	if m.once {
		get = m.tx.GetOnce
	}
	v, err := get(ctx, schema.URLRow(info.URL), schema.RankState)
	if err != nil {
		return cluster.Ranked{}, err
	}
	s, err := schema.DecodeRankState(v.Data)
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

// choose reads all members, and gives up with cluster.ErrUnread if there are more than a
// limit.
func (m *members) choose(ctx context.Context, limit int) (cluster.Choice, error) {
	var list []cluster.Ranked
	for r, err := range m.all(ctx) {
		if err != nil {
			return cluster.Choice{}, err
		}
		if len(list) == limit {
			return cluster.Choice{}, cluster.ErrUnread
		}
		list = append(list, r)
	}
	return cluster.Choose(cluster.All(list))
}
