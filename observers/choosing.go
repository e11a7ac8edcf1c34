package observers

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"indexer/internal/rank"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// Choosing finds the canonical URL of a cluster (semantics.md section 4) in two visits of
// its members, both in the order of preference, and remembers none of them: first Rank
// takes each, then Choose. So a cluster may have any number of members.
//
// Ranks are known within bounds. Contested is a choice that could be another one with
// other ranks within them; it is then by the ranks as published, until settle makes it.
type Choosing struct {
	Canonical page.URL // "" if there is none
	Contested bool

	ranks, least, most topTwo
	ranked, chosen     int // members visited
}

// Rank takes the next member in the first visit.
func (c *Choosing) Rank(m *RankedMember) {
	if m.Eligible {
		c.ranks.add(c.ranked, m.Rank)
		c.least.add(c.ranked, m.Least)
		c.most.add(c.ranked, m.Most)
	}
	c.ranked++
}

// Choose takes the next member in the second visit, which ends when it reports true:
// whoever comes later cannot be chosen. Of those with a rank about the highest it is the
// first.
func (c *Choosing) Choose(m *RankedMember) (decided bool) {
	at := c.chosen
	c.chosen++
	if !m.Eligible {
		return false
	}
	surely := rank.Stands(m.Least, c.most.without(at))
	never := !rank.Stands(m.Most, c.least.without(at))
	c.Contested = c.Contested || !surely && !never
	if c.Canonical == "" && rank.Stands(m.Rank, c.ranks.first) {
		c.Canonical = m.URL
	}
	return surely
}

// Candidates makes a digest of the members that can be chosen, in any order: the sum of
// digests of each, so that those of parts of a cluster can be added.
type Candidates struct{ sum uint64 }

// Add takes a member.
func (c *Candidates) Add(m *RankedMember) {
	if m.Eligible {
		c.sum += candidate(m.URL)
	}
}

// Sum is the digest of what was added.
func (c *Candidates) Sum() (sum [8]byte) {
	binary.BigEndian.PutUint64(sum[:], c.sum)
	return sum
}

func candidate(u page.URL) uint64 {
	sum := sha256.Sum256([]byte(u))
	return binary.BigEndian.Uint64(sum[:])
}

// BrokenTie is the canonical URL that settle has chosen among the candidates of a
// contested cluster, "" as long as it has not.
func BrokenTie(ctx context.Context, tx *txn.Txn, key page.ContentKey, among *Candidates) (page.URL, error) {
	stored, known, err := readChoice(ctx, tx, schema.ClusterRow(key))
	if err != nil || !known || stored.Among != among.Sum() {
		return "", err
	}
	return stored.URL, nil
}

// RankMember is a member with its rank as published; tolerance is RankTolerance.
func RankMember(ctx context.Context, tx *txn.Txn, m schema.MemberInfo, tolerance float64) (RankedMember, error) {
	mass, err := readRankState(ctx, tx, schema.URLRow(m.URL))
	return rankMember(m, &mass, tolerance), err
}
