package observers

import (
	"context"

	"indexer/internal/rank"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// RankedMember is a member of a cluster with its rank, and the bounds within which
// that is by the tolerance.
type RankedMember struct {
	schema.MemberInfo
	Rank        float64
	Least, Most float64
}

// Exact reports that the rank is known exactly: nothing links there.
func (m *RankedMember) Exact() bool { return m.Least == m.Most }

// membersUpTo lists the first members of a cluster, and says whether there are more.
func membersUpTo(ctx context.Context, tx *txn.Txn, key page.ContentKey, limit int) (members []RankedMember, more bool, err error) {
	tolerance, err := RankTolerance(ctx, tx)
	if err != nil {
		return nil, false, err
	}
	err = tx.ScanPrefix(ctx, schema.GroupMember, schema.ClusterRow(key), func(row string, _ []txn.Version) error {
		if more = len(members) == limit; more {
			return txn.ErrStop
		}
		m, err := readRanked(ctx, tx, row, tolerance)
		members = append(members, m)
		return err
	})
	return members, more, err
}

// contenders are the members of a cluster, in the order of preference, that its canonical
// URL depends on, with the digest of all that can be chosen. Left out are those before
// which there is one whose rank is not lower, wherever within the bounds both are: they
// cannot be chosen, nor have the only highest rank. So of a giant with
// few links to its members few are left.
func contenders(ctx context.Context, tx *txn.Txn, key page.ContentKey) (list []RankedMember, among [8]byte, err error) {
	tolerance, err := RankTolerance(ctx, tx)
	if err != nil {
		return nil, among, err
	}
	var all Candidates
	surely := 0.0
	_, err = VisitMembers(ctx, tx, key, "", noLimit, func(info schema.MemberInfo) error {
		if !info.Eligible {
			return txn.ErrStop // all others come after the eligible ones
		}
		v, err := tx.GetOnce(ctx, schema.URLRow(info.URL), schema.RankState)
		if err != nil {
			return err
		}
		mass, err := schema.DecodeRankState(v.Data)
		m := rankMember(info, &mass, tolerance)
		all.Add(&m)
		if m.Most > surely {
			list, surely = append(list, m), max(surely, m.Least)
		}
		return err
	})
	return list, all.Sum(), err
}

func rankMember(info schema.MemberInfo, m *schema.StoredRankState, tolerance float64) RankedMember {
	if m.Inlinks == 0 {
		return RankedMember{info, rank.Teleport, rank.Teleport, rank.Teleport}
	}
	return RankedMember{info, m.Rank, leastRank(m.Rank, tolerance), mostRank(m.Rank, tolerance)}
}

// leastRank and mostRank are the bounds of a rank that was published within a tolerance.
func leastRank(r, tolerance float64) float64 { return r / (1 + tolerance) }
func mostRank(r, tolerance float64) float64  { return r / (1 - tolerance) }

// choose is the canonical URL of a cluster with these members, which come in the order
// of preference; see Choosing.
func choose(members []RankedMember) (canonical page.URL, contested bool) {
	var c Choosing
	for i := range members {
		c.Rank(&members[i])
	}
	for i := range members {
		if c.Choose(&members[i]) {
			break
		}
	}
	return c.Canonical, c.Contested
}

// candidates is a digest of the members that can be chosen.
func candidates(members []RankedMember) [8]byte {
	var c Candidates
	for i := range members {
		c.Add(&members[i])
	}
	return c.Sum()
}

// readChoice reads the choice that settle made, false if there is no row for one.
func readChoice(ctx context.Context, tx *txn.Txn, row string) (schema.StoredChoice, bool, error) {
	v, err := tx.Get(ctx, row, schema.Choice)
	if err != nil || !v.Exists {
		return schema.StoredChoice{}, false, err
	}
	c, err := schema.DecodeChoice(v.Data)
	return c, true, err
}

// topTwo are the two greatest of some numbers.
type topTwo struct {
	at            int // where first was
	first, second float64
}

func (t *topTwo) add(i int, v float64) {
	switch {
	case v > t.first:
		t.at, t.first, t.second = i, v, t.first
	case v > t.second:
		t.second = v
	}
}

// without is the greatest number at another place.
func (t *topTwo) without(i int) float64 {
	if i == t.at {
		return t.second
	}
	return t.first
}
