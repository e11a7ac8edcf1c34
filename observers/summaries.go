package observers

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"indexer/internal/rank"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// Sections are how a cluster with many members is ranked without reading them all. Its
// member rows, which stand in the order of preference, are cut into sections of some
// hundred; for each there is a row (schema.StoredSummary) that says how many members it
// has, the sum of their ranks, and the highest of those that can be chosen. A change of a
// member renews its section (sectionwrite.go); the rows of all sections together tell
// numbers and thresholds, and which section holds the canonical URL. That one is read.
//
// So a change costs the reading of one section, and of a row for every hundred members. A
// cluster with few members has no sections, and costs the look at a row that is not there.
//
// # Why the choice is that of semantics.md section 4
//
// Of all members, in the order of preference, choose (canonical.go) takes the first whose
// rank is about the highest. The highest rank is that of a section; the first member that
// is about that high lies in the first section whose highest rank is. With bounds:
// a choice is contested if, in that order, the first member that could be chosen is not
// sure to be. Member i could not be if its greatest possible rank is not about as high as
// the highest of the least possible ones of others; since its own least is below its
// greatest, that comes to the same with all members instead of the others. So the first that
// could be is found like the first that is. Whether it is sure depends on the highest of
// the greatest possible ranks without its own: the two highest tell. Ranks of members
// without inlinks are exact, so they are counted apart.

// section is a part of the members of a cluster.
type section struct {
	at string // where it begins: a member row without the content key, "" for the first
	schema.StoredSummary
}

// sections are all those of a cluster, in order; none of a cluster that is read whole.
type sections struct {
	key  page.ContentKey
	list []section
	// all of them together
	total schema.StoredSummary
}

// errUnread: a cluster has many members, and there are not sections for all of them
// yet. When there are, index is woken.
var errUnread = errors.New("sections of the cluster have not been read")

// behindError is a section that its members do not agree with: they have changed since it was
// renewed. Rerank was woken at them. It is woken at the section as well, so
// that nobody waits for ever for one that is damaged.
type behindError struct {
	row string // for schema.Ranked: of no member, and in no other section
}

func (e *behindError) Error() string { return "a section of the cluster is behind its members" }

// readSections reads the sections of a cluster.
func readSections(ctx context.Context, tx *txn.Txn, key page.ContentKey) (*sections, error) {
	s := &sections{key: key}
	row := schema.ClusterRow(key)
	first, err := tx.Get(ctx, row, schema.Summary)
	if err != nil || !first.Exists {
		return s, err
	}
	err = tx.ScanPrefix(ctx, schema.GroupSummary, row, func(row string, cols []txn.Version) error {
		stored, err := schema.DecodeSummary(cols[0].Data)
		_, at := schema.SplitMemberRow(row)
		s.list = append(s.list, section{at, stored})
		return err
	})
	s.add()
	return s, err
}

// add adds up the sections.
func (s *sections) add() {
	s.total = schema.StoredSummary{}
	for i := range s.list {
		addSection(&s.total, &s.list[i].StoredSummary)
	}
}

// addSection makes one of two sections.
func addSection(to, s *schema.StoredSummary) {
	to.Unread = to.Unread || s.Unread
	to.Members += s.Members
	to.Rank += s.Rank
	to.Lonely += s.Lonely
	to.Among += s.Among
	two := topTwo{first: to.First, second: to.Second}
	two.add(0, s.First)
	two.add(0, s.Second)
	to.First, to.Second = two.first, two.second
}

// addMember takes a member into a section.
func addMember(to *schema.StoredSummary, m *RankedMember) {
	one := schema.StoredSummary{Members: 1, Rank: m.Rank}
	if m.Eligible {
		one.Among = candidate(m.URL)
		if m.Exact() {
			one.Lonely = 1
		} else {
			one.First = m.Rank
		}
	}
	addSection(to, &one)
}

// find is the number of the section that a member row, without the content key, is in.
func (s *sections) find(at string) int {
	return sort.Search(len(s.list), func(i int) bool { return s.list[i].at > at }) - 1
}

// row is the row at which section i begins.
func (s *sections) row(i int) string { return schema.SummaryRow(s.key, s.list[i].at) }

// end is the row before which section i ends.
func (s *sections) end(i int) string {
	if i+1 < len(s.list) {
		return s.row(i + 1)
	}
	return txn.PrefixEnd(schema.ClusterRow(s.key))
}

// choose is what choose is of all members. It is errUnread or a
// behindError if that cannot be told.
func (s *sections) choose(ctx context.Context, tx *txn.Txn) (canonical page.URL, contested bool, err error) {
	if s.total.Unread {
		return "", false, errUnread
	}
	tolerance, err := RankTolerance(ctx, tx)
	if err != nil {
		return "", false, err
	}
	r := sectionRanks{tolerance}
	highest := r.ranks(&s.total).first
	if highest == 0 {
		return "", false, nil
	}
	shown, err := s.first(ctx, tx, tolerance,
		func(all *schema.StoredSummary) bool { return rank.Stands(r.ranks(all).first, highest) },
		func(m *RankedMember) bool { return rank.Stands(m.Rank, highest) })
	if err != nil {
		return "", false, err
	}
	least, most := r.least(&s.total).first, r.most(&s.total)
	possible, err := s.first(ctx, tx, tolerance,
		func(all *schema.StoredSummary) bool { return rank.Stands(r.most(all).first, least) },
		func(m *RankedMember) bool { return rank.Stands(m.Most, least) })
	if err != nil {
		return "", false, err
	}
	others := most.first
	if possible.Most == most.first {
		others = most.second
	}
	return shown.URL, !rank.Stands(possible.Least, others), nil
}

// first is the first member that can be chosen of which one is true, read in the first
// section of which other says that it holds one.
func (s *sections) first(ctx context.Context, tx *txn.Txn, tolerance float64, other func(*schema.StoredSummary) bool, one func(*RankedMember) bool) (found RankedMember, err error) {
	for i := range s.list {
		if !other(&s.list[i].StoredSummary) {
			continue
		}
		read, ok := 0, false
		err := tx.Scan(ctx, schema.GroupMember, s.row(i), s.end(i), func(row string, _ []txn.Version) error {
			if read++; read > sectionRead {
				return txn.ErrStop
			}
			m, err := readRanked(ctx, tx, row, tolerance)
			if err != nil || !m.Eligible || !one(&m) {
				return err
			}
			found, ok = m, true
			return txn.ErrStop
		})
		if err == nil && !ok {
			err = &behindError{s.row(i) + "\x00"}
		}
		return found, err
	}
	return found, &behindError{schema.ClusterRow(s.key)} // never: the highest of all is that of one
}

// readRanked reads the member of a row.
func readRanked(ctx context.Context, tx *txn.Txn, row string, tolerance float64) (RankedMember, error) {
	_, info, err := schema.ParseMemberRow(row)
	if err != nil {
		return RankedMember{}, err
	}
	m, err := RankMember(ctx, tx, info, tolerance)
	if err != nil {
		return m, fmt.Errorf("member %s: %w", info.URL, err)
	}
	return m, nil
}

// sectionRanks are the two highest ranks among the members of a section that can be
// chosen: as published, and at the least and at the most.
type sectionRanks struct{ tolerance float64 }

func (r sectionRanks) ranks(s *schema.StoredSummary) topTwo {
	return twoHighest(s, func(x float64) float64 { return x })
}

func (r sectionRanks) least(s *schema.StoredSummary) topTwo {
	return twoHighest(s, func(x float64) float64 { return leastRank(x, r.tolerance) })
}

func (r sectionRanks) most(s *schema.StoredSummary) topTwo {
	return twoHighest(s, func(x float64) float64 { return mostRank(x, r.tolerance) })
}

func twoHighest(s *schema.StoredSummary, bound func(float64) float64) (t topTwo) {
	t.add(0, bound(s.First))
	t.add(0, bound(s.Second))
	for range min(s.Lonely, 2) {
		t.add(0, rank.Teleport)
	}
	return t
}
