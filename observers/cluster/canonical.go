package cluster

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"

	"github.com/webindexer/indexer/internal/rank"
	"github.com/webindexer/indexer/page"
)

// Choice is what ranks decide about a cluster.
type Choice struct {
	Canonical page.URL // "" if no member is eligible
	// Contested says that with other ranks within the known bounds, another member could
	// be the canonical URL. Then Canonical follows the published ranks.
	Contested bool
	Members   int
	Rank      float64    // sum over all members
	Among     Candidates // the candidates for the choice
}

// Choose finds the canonical URL of a cluster, given all its members in the order of
// preference. It iterates over the sequence twice and remembers no member, so a cluster may
// have any number of members. The second time, it stops as soon as no later member can be
// chosen.
//
// A member qualifies if its rank is at least 0.99 of the highest rank of an eligible
// member. The first eligible member that qualifies is chosen. With ranks between bounds, a
// member certainly qualifies if its least rank qualifies against the greatest ranks of the
// others, and cannot qualify if its greatest rank does not qualify against their least. A
// choice is contested if a member that may qualify comes before the first that certainly does.
func Choose(members iter.Seq2[Ranked, error]) (Choice, error) {
	var c Choice
	var ranks, leasts, mosts topTwo
	i := 0
	for m, err := range members {
		if err != nil {
			return Choice{}, err
		}
		c.Members++
		c.Rank += m.Rank
		if m.Eligible {
			c.Among.Add(m.Member)
			ranks.add(i, m.Rank)
			leasts.add(i, m.Least)
			mosts.add(i, m.Most)
		}
		i++
	}
	i = 0
	for m, err := range members {
		if err != nil {
			return Choice{}, err
		}
		if m.Eligible {
			certain := rank.Qualifies(m.Least, mosts.without(i))
			excluded := !rank.Qualifies(m.Most, leasts.without(i))
			c.Contested = c.Contested || !certain && !excluded
			if c.Canonical == "" && rank.Qualifies(m.Rank, ranks.first) {
				c.Canonical = m.URL
			}
			if certain {
				break
			}
		}
		i++
	}
	return c, nil
}

// All yields the members of a list.
func All(list []Ranked) iter.Seq2[Ranked, error] {
	return func(yield func(Ranked, error) bool) {
		for _, m := range list {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// Candidates is a digest of the members that can be chosen: the sum of a digest of each. So
// the order does not matter, and the digests of two parts of a cluster can be added.
type Candidates uint64

// Add adds a member. A member that is not eligible changes nothing.
func (c *Candidates) Add(m Member) {
	if m.Eligible {
		sum := sha256.Sum256([]byte(m.URL))
		*c += Candidates(binary.BigEndian.Uint64(sum[:]))
	}
}

// Bytes returns the digest as bytes.
func (c Candidates) Bytes() (b [8]byte) {
	binary.BigEndian.PutUint64(b[:], uint64(c))
	return b
}

// Contenders are the members that the canonical URL of a cluster depends on, in the order of
// preference. They leave out a member if the rank of an earlier one is at least as high,
// wherever both ranks are within their bounds: it can neither be chosen nor be the only one
// with the highest rank. So a giant cluster whose members have few links has few contenders.
type Contenders struct {
	List  []Ranked
	Among Candidates // digest of all members that can be chosen

	highestLeast float64 // of all members
}

// Add adds the next member in the order of preference. It returns false if no more are
// needed: eligible members come before all others.
func (c *Contenders) Add(m Ranked) (more bool) {
	if !m.Eligible {
		return false
	}
	c.Among.Add(m.Member)
	if m.Most > c.highestLeast {
		c.List = append(c.List, m)
		c.highestLeast = max(c.highestLeast, m.Least)
	}
	return true
}

// topTwo are the two greatest of some numbers.
type topTwo struct {
	at            int // index of first
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

// without returns the greatest number at an index other than i.
func (t *topTwo) without(i int) float64 {
	if i == t.at {
		return t.second
	}
	return t.first
}
