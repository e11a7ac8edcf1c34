package observers

import (
	"cmp"
	"context"
	"math"
	"slices"

	"indexer/index"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// ShownMembers and ShownAnchors bound what an index document carries of a giant
// cluster or a hub page; the true numbers stand beside them, and export and
// inspect read all of them from the repository.
const (
	ShownMembers = 1000
	ShownAnchors = 200
)

// countedAnchors is how many different anchors of a cluster are counted at a time, to
// bound memory. With the others variables for tests.
var (
	countedAnchors = 20_000
	shownAnchors   = ShownAnchors
	shownMembers   = ShownMembers
)

// anchorTally finds the anchors that a document carries of its inlinks: all, if there are
// up to ShownAnchors different ones; else the best, and of each how many links have it.
//
// The best are those of the best sources: an anchor is as good as the page with the highest
// rank that has it. Of equal ones the one with more links is better, then the first in
// byte order. (With more than countedAnchors, byte order decides alone.) Ranks are those
// published when the links are read. A document is not made anew when only ranks of its
// sources move; it has the best of when something of it last changed.
//
// # One reading, and some more of a reading
//
// Links are read as they stand in their rows, and counted. Nobody asks for ranks until
// there are more anchors than are shown; from that link on each source's is looked up. So
// in the end the links before it are read once more, for their ranks. A hub has as many
// different anchors soon, or never.
//
// Memory is bounded although there may be a million anchors. The best by their best
// source can be found by remembering no more than are shown: one that has to give way for
// better ones comes back when a better source of it does, with the rank of that. (It would
// not be so with the sum of the sources' ranks.) Only counts of what was forgotten are
// lost. So if there were more than countedAnchors, the links are read another time to
// count those that were chosen.
type anchorTally struct {
	reading anchorReading
	done    bool
	counts  map[string]anchorLinks
	lost    bool      // there were more than countedAnchors
	from    linkPlace // where weighing began
	weighs  bool
	best    bestAnchors
}

// anchorReading is what links are read for.
type anchorReading int

const (
	counting   anchorReading = iota // all
	weighing                        // those before the one from which on it was done while counting
	recounting                      // all, for the anchors that were chosen
)

// anchorLinks are how many links have an anchor, how many of them come from other sites,
// and the highest rank of a source.
type anchorLinks struct {
	all, others int
	rank        float64
}

// linkPlace is where a link row stands in a visit.
type linkPlace struct{ member, pair string }

func (p linkPlace) before(q linkPlace) bool {
	return cmp.Or(cmp.Compare(p.member, q.member), cmp.Compare(p.pair, q.pair)) < 0
}

// add takes the links of a row. It ends the visit, by txn.ErrStop, where no further ones
// are wanted.
func (t *anchorTally) add(ctx context.Context, tx *txn.Txn, at linkPlace, target page.URL, anchors []string) error {
	if t.reading == weighing && !at.before(t.from) {
		return txn.ErrStop
	}
	source, err := schema.ParseURLRow(schema.PairSource(at.pair))
	if err != nil {
		return err
	}
	if t.reading != weighing {
		other := index.FromOtherSite(source, target)
		for _, a := range anchors {
			t.count(a, other)
		}
		if t.reading == counting && !t.weighs && (t.lost || len(t.counts) > shownAnchors) {
			t.weighs, t.from = true, at
		}
	}
	if !t.weighs || t.reading == recounting {
		return nil
	}
	v, err := tx.GetOnce(ctx, schema.PairSource(at.pair), schema.RankState)
	if err != nil {
		return err
	}
	m, err := schema.DecodeRankState(v.Data)
	if err != nil {
		return err
	}
	for _, a := range anchors {
		t.weigh(a, m.Rank)
	}
	return nil
}

func (t *anchorTally) count(text string, other bool) {
	if text == "" {
		return
	}
	if t.counts == nil {
		t.counts = make(map[string]anchorLinks)
	}
	n, known := t.counts[text]
	if !known && (t.reading == recounting || len(t.counts) >= countedAnchors) {
		t.lost = true
		return
	}
	n.all++
	if other {
		n.others++
	}
	t.counts[text] = n
}

func (t *anchorTally) weigh(text string, rank float64) {
	if text == "" {
		return
	}
	if n, known := t.counts[text]; known && rank > n.rank {
		n.rank = rank
		t.counts[text] = n
	}
	t.best.add(text, rank)
}

// end ends a reading.
func (t *anchorTally) end() {
	switch {
	case t.reading == counting && t.weighs:
		t.reading = weighing
	case t.reading == weighing && t.lost:
		t.reading = recounting
		t.counts = make(map[string]anchorLinks, len(t.best.ranks))
		for text := range t.best.ranks {
			t.counts[text] = anchorLinks{}
		}
	default:
		t.done = true
	}
}

// chosen lists the anchors of the document: the most frequent first, and of equal ones by
// byte order.
func (t *anchorTally) chosen() []index.Anchor {
	texts := make([]string, 0, len(t.counts))
	for text, n := range t.counts {
		if n.all > 0 {
			texts = append(texts, text)
		}
	}
	if len(texts) > shownAnchors {
		slices.SortFunc(texts, func(a, b string) int {
			x, y := t.counts[a], t.counts[b]
			return cmp.Or(cmp.Compare(y.rank, x.rank), cmp.Compare(y.all, x.all), cmp.Compare(a, b))
		})
		texts = texts[:shownAnchors]
	}
	list := make([]index.Anchor, len(texts))
	for i, text := range texts {
		list[i] = index.Anchor{Text: text, Count: t.counts[text].all, Others: t.counts[text].others}
	}
	slices.SortFunc(list, func(a, b index.Anchor) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text))
	})
	return list
}

// bestAnchors are the shownAnchors texts with the highest ranks of those that were added.
type bestAnchors struct {
	ranks map[string]float64
	worst string // of them, if there are shownAnchors
}

func (b *bestAnchors) add(text string, rank float64) {
	if b.ranks == nil {
		b.ranks = make(map[string]float64)
	}
	old, known := b.ranks[text]
	switch {
	case known && rank <= old:
		return
	case !known && len(b.ranks) == shownAnchors:
		if !better(text, rank, b.worst, b.ranks[b.worst]) {
			return
		}
		delete(b.ranks, b.worst)
	}
	b.ranks[text] = rank
	if len(b.ranks) < shownAnchors || known && text != b.worst {
		return
	}
	least := math.Inf(1)
	for other, r := range b.ranks {
		if least == math.Inf(1) || better(b.worst, least, other, r) {
			b.worst, least = other, r
		}
	}
}

func better(text string, rank float64, than string, thanRank float64) bool {
	return cmp.Or(cmp.Compare(thanRank, rank), cmp.Compare(text, than)) < 0
}
