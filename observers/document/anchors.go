package document

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Anchor is a text of links to a cluster.
type Anchor struct {
	Text   string
	Count  int // inlinks with this text
	Others int // of these, links from other sites
}

// anchorCounter finds the anchors that a document carries: all anchors if there are at
// most Limits.Anchors different ones, otherwise the best, each with the number of its
// links.
//
// An anchor is as good as the page with the highest rank that uses it. Of two equally
// good anchors, the one with more links is better, then the first in byte order. (With
// more than Limits.CountedAnchors, byte order alone decides.) Ranks are those published
// when the links are read. A document is not assembled again when only the ranks of its
// sources change; it has the anchors that were best when something else about it last
// changed.
//
// # Why the links are read up to three times
//
// The first reading counts. It asks for no ranks until there are more anchors than the
// document carries; from that link on it looks up the rank of each source. So the
// links before that one are read a second time, for their ranks. There are few of
// them: a hub reaches that many different anchors soon, or never.
//
// Memory is bounded although there may be a million anchors. To find the best anchors by
// their best source, it is enough to remember as many as the document carries: an anchor
// that better ones displaced comes back with the rank of a better source when that source
// appears. (This would not hold for the sum of the sources' ranks.) Only the counts of
// forgotten anchors are lost. So if there were more than Limits.CountedAnchors, a third
// reading counts those that were chosen.
type anchorCounter struct {
	shown, counted int // limits
	reading        reading
	counts         map[string]anchorLinks
	lost           bool // there were more anchors than may be counted
	weighs         bool // the first reading asks for ranks from this place on:
	from           Place
	best           bestAnchors
}

// reading is the purpose of reading the links.
type reading int

const (
	counting   reading = iota // all links
	weighing                  // the links before the one at which ranks were first asked for
	recounting                // all links, for the anchors that were chosen
	done
)

// anchorLinks is how many links have an anchor, how many of them come from other sites,
// and the highest rank among their sources.
type anchorLinks struct {
	all, others int
	rank        float64
}

func newAnchorCounter(limits Limits) *anchorCounter {
	return &anchorCounter{shown: limits.Anchors, counted: limits.CountedAnchors}
}

// add takes the links from one source, and reports whether this reading needs more.
func (c *anchorCounter) add(ctx context.Context, r Reader, l *Link) (more bool, err error) {
	if c.reading == weighing && !l.before(c.from) {
		return false, nil
	}
	if c.reading != weighing {
		for _, text := range l.Anchors {
			c.count(text, l.OtherSite)
		}
		if c.reading == counting && !c.weighs && (c.lost || len(c.counts) > c.shown) {
			c.weighs, c.from = true, l.Place
		}
	}
	if !c.weighs || c.reading == recounting {
		return true, nil
	}
	rank, err := r.Rank(ctx, l.Source)
	if err != nil {
		return false, err
	}
	for _, text := range l.Anchors {
		c.weigh(text, rank)
	}
	return true, nil
}

func (c *anchorCounter) count(text string, other bool) {
	if text == "" {
		return
	}
	if c.counts == nil {
		c.counts = make(map[string]anchorLinks)
	}
	n, known := c.counts[text]
	if !known && (c.reading == recounting || len(c.counts) >= c.counted) {
		c.lost = true
		return
	}
	n.all++
	if other {
		n.others++
	}
	c.counts[text] = n
}

func (c *anchorCounter) weigh(text string, rank float64) {
	if text == "" {
		return
	}
	if n, known := c.counts[text]; known && rank > n.rank {
		n.rank = rank
		c.counts[text] = n
	}
	c.best.add(text, rank, c.shown)
}

// end ends a reading, and begins the next one if one is needed.
func (c *anchorCounter) end() {
	switch {
	case c.reading == counting && c.weighs:
		c.reading = weighing
	case c.reading == weighing && c.lost:
		c.reading = recounting
		c.counts = make(map[string]anchorLinks, len(c.best.ranks))
		for text := range c.best.ranks {
			c.counts[text] = anchorLinks{}
		}
	default:
		c.reading = done
	}
}

// chosen lists the anchors of the document, the most frequent first, equally frequent
// ones in byte order.
func (c *anchorCounter) chosen() []Anchor {
	texts := make([]string, 0, len(c.counts))
	for text, n := range c.counts {
		if n.all > 0 {
			texts = append(texts, text)
		}
	}
	if len(texts) > c.shown {
		slices.SortFunc(texts, func(a, b string) int {
			x, y := c.counts[a], c.counts[b]
			return cmp.Or(cmp.Compare(y.rank, x.rank), cmp.Compare(y.all, x.all), cmp.Compare(a, b))
		})
		texts = texts[:c.shown]
	}
	list := make([]Anchor, len(texts))
	for i, text := range texts {
		list[i] = Anchor{Text: text, Count: c.counts[text].all, Others: c.counts[text].others}
	}
	slices.SortFunc(list, func(a, b Anchor) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text))
	})
	return list
}

// bestAnchors remembers the texts with the highest ranks among those that were added.
type bestAnchors struct {
	ranks map[string]float64
	worst string // the worst of them, once there are as many as may be remembered
}

// add takes a text that a source of this rank uses; at most limit texts are remembered.
func (b *bestAnchors) add(text string, rank float64, limit int) {
	if b.ranks == nil {
		b.ranks = make(map[string]float64)
	}
	old, known := b.ranks[text]
	switch {
	case known && rank <= old:
		return
	case !known && len(b.ranks) == limit:
		if !better(text, rank, b.worst, b.ranks[b.worst]) {
			return
		}
		delete(b.ranks, b.worst)
	}
	b.ranks[text] = rank
	if len(b.ranks) < limit || known && text != b.worst {
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
