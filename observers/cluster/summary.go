package cluster

import (
	"context"
	"errors"
	"iter"
	"sort"

	"github.com/webindexer/indexer/internal/rank"
)

// Summary adds up the members of a giant cluster from one position up to the next
// summary: enough to find the canonical URL without reading all members.
type Summary struct {
	// An incomplete summary was begun but not computed; its other fields are unset.
	Incomplete bool
	Members    int
	Rank       float64 // the sum of their published ranks
	// Unlinked is the number of eligible members without inlinks. All of them have
	// exactly the same rank. First and Second are the two highest published ranks of the
	// other eligible members, 0 for none.
	Unlinked      int
	First, Second float64
	Among         uint64 // the Candidates
}

// add adds another summary.
func (s *Summary) add(o Summary) {
	s.Incomplete = s.Incomplete || o.Incomplete
	s.Members += o.Members
	s.Rank += o.Rank
	s.Unlinked += o.Unlinked
	s.Among += o.Among
	two := topTwo{first: s.First, second: s.Second}
	two.add(0, o.First)
	two.add(0, o.Second)
	s.First, s.Second = two.first, two.second
}

// addMember adds a member.
func (s *Summary) addMember(m *Ranked) {
	one := Summary{Members: 1, Rank: m.Rank}
	if m.Eligible {
		var among Candidates
		among.Add(m.Member)
		one.Among = uint64(among)
		if m.Linked {
			one.First = m.Rank
		} else {
			one.Unlinked = 1
		}
	}
	s.add(one)
}

// topTwo returns the two highest ranks of eligible members, after bound was applied to
// each. Bounds keep the order of ranks.
func (s *Summary) topTwo(bound func(float64) float64) (t topTwo) {
	t.add(0, bound(s.First))
	t.add(0, bound(s.Second))
	for range min(s.Unlinked, 2) {
		t.add(0, rank.Teleport)
	}
	return t
}

// Part is a summary and the position at which it begins.
type Part struct {
	At string
	Summary
}

// Summaries rank a giant cluster without reading all its members. The members, in the order
// of preference, are cut into parts of some dozens, each with a Summary. A change of a
// member renews its summary. All summaries together give the numbers and the highest rank,
// and say which part holds the canonical URL; only that part is read. So a change costs
// reading one part, and one summary for every hundred members or so.
//
// The zero value belongs to a cluster without summaries, which is read whole.
//
// # Why the choice is the same as that of all members
//
// Choose takes the first member that qualifies. The highest rank is that of some summary,
// and the first member that qualifies is in the first part whose highest rank does.
//
// With bounds, a choice is contested if the first member that could be chosen is not sure to
// be chosen. A member cannot be chosen if its greatest possible rank does not qualify against
// the highest of the least ranks of the others. Its own least rank is below its greatest, so
// taking all members instead of the others makes no difference; the first member that could be
// chosen is then found like the first that is chosen. Whether its choice is sure depends on
// the highest of the greatest ranks of the others, which follows from the two highest of all.
//
// Members that nothing links to have an exact rank, which does not depend on the tolerance.
// So they are counted separately.
type Summaries struct {
	Parts []Part // in order; the first begins at ""
}

// ErrIncomplete means that a choice cannot be made yet: a cluster has many members, and not
// all of them are summarised. Try again when a renewal says so (Renewal.Notify).
var ErrIncomplete = errors.New("members of the cluster are not summarised yet")

// OutdatedError means that a choice has found a summary that disagrees with its members.
// Usually they have changed, and the renewal of the summary is under way. The caller must
// still renew it at the position At: if the summary is damaged, no renewal is under way.
type OutdatedError struct {
	At string // of no member, and in no other part
}

func (e *OutdatedError) Error() string { return "a summary of the cluster disagrees with its members" }

// Total adds up all summaries.
func (s *Summaries) Total() (total Summary) {
	for i := range s.Parts {
		total.add(s.Parts[i].Summary)
	}
	return total
}

// find returns the index of the part that a position is in.
func (s *Summaries) find(at string) int {
	return sort.Search(len(s.Parts), func(i int) bool { return s.Parts[i].At > at }) - 1
}

// members yields the members of part i.
func (s *Summaries) members(ctx context.Context, r Reader, i int) iter.Seq2[Entry, error] {
	to := ""
	if i+1 < len(s.Parts) {
		to = s.Parts[i+1].At
	}
	return r.Members(ctx, s.Parts[i].At, to)
}

// Choose returns what the function Choose would return for all members. The tolerance is
// that of the published ranks. Errors include ErrIncomplete and an OutdatedError.
func (s *Summaries) Choose(ctx context.Context, r Reader, tolerance float64, l Limits) (Choice, error) {
	total := s.Total()
	if total.Incomplete {
		return Choice{}, ErrIncomplete
	}
	c := Choice{Members: total.Members, Rank: total.Rank, Among: Candidates(total.Among)}
	published := func(x float64) float64 { return x }
	atLeast := func(x float64) float64 { return least(x, tolerance) }
	atMost := func(x float64) float64 { return most(x, tolerance) }

	highest := total.topTwo(published).first
	if highest == 0 {
		return c, nil
	}
	chosen, err := s.first(ctx, r, l,
		func(s *Summary) bool { return rank.Qualifies(s.topTwo(published).first, highest) },
		func(m *Ranked) bool { return rank.Qualifies(m.Rank, highest) })
	if err != nil {
		return Choice{}, err
	}
	c.Canonical = chosen.URL

	leasts, mosts := total.topTwo(atLeast), total.topTwo(atMost)
	possible, err := s.first(ctx, r, l,
		func(s *Summary) bool { return rank.Qualifies(s.topTwo(atMost).first, leasts.first) },
		func(m *Ranked) bool { return rank.Qualifies(m.Most, leasts.first) })
	if err != nil {
		return Choice{}, err
	}
	others := mosts.first
	if possible.Most == mosts.first {
		others = mosts.second
	}
	c.Contested = !rank.Qualifies(possible.Least, others)
	return c, nil
}

// first returns the first eligible member for which is reports true. first reads it in the
// first part whose summary says that it holds one.
func (s *Summaries) first(ctx context.Context, r Reader, l Limits, holds func(*Summary) bool, is func(*Ranked) bool) (Ranked, error) {
	for i := range s.Parts {
		if !holds(&s.Parts[i].Summary) {
			continue
		}
		left := l.WithDefaults().Read
		for m, err := range s.members(ctx, r, i) {
			if err != nil {
				return Ranked{}, err
			}
			if m.Eligible && is(&m.Ranked) {
				return m.Ranked, nil
			}
			if left--; left <= 0 {
				break
			}
		}
		return Ranked{}, &OutdatedError{s.Parts[i].At + "\x00"}
	}
	return Ranked{}, &OutdatedError{""} // damaged: no part has the highest rank of all
}
