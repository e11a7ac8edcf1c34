package observers

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"indexer/index"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// Inlink is one entry of a cluster's inverted links (semantics.md section 5).
type Inlink struct {
	Source page.URL `json:"source"`
	Target page.URL `json:"target"`
	Anchor string   `json:"anchor"`
}

// VisitInlinks calls fn for each inlink of a cluster with these members: by
// target, then source, in row order, then anchor. Links from one member to
// another do not count.
func VisitInlinks(ctx context.Context, tx *txn.Txn, members []page.URL, fn func(Inlink) error) error {
	inside := make(map[string]bool, len(members))
	for _, m := range members {
		inside[schema.URLRow(m)] = true
	}
	for _, m := range members {
		err := tx.ScanPrefix(ctx, schema.GroupLink, schema.PairPrefix(m), func(row string, cols []txn.Version) error {
			source := schema.PairSource(row)
			if inside[source] {
				return nil
			}
			return visitAnchors(source, m, cols, fn)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func visitAnchors(sourceRow string, target page.URL, cols []txn.Version, fn func(Inlink) error) error {
	source, err := schema.ParseURLRow(sourceRow)
	if err != nil {
		return err
	}
	anchors, err := schema.DecodeAnchors(cols[0].Data)
	if err != nil {
		return err
	}
	for _, a := range anchors {
		if err := fn(Inlink{source, target, a}); err != nil {
			return err
		}
	}
	return nil
}

// CountedAnchors is how many different anchors of a cluster are counted, to bound
// memory. Where there are more, those that come later in the order of VisitInlinks
// are left out, so the most frequent ones shown may not be the right ones.
const CountedAnchors = 20_000

// anchorCount counts anchor texts.
type anchorCount map[string]anchorLinks

// anchorLinks are how many links have an anchor, and how many of them come from other sites.
type anchorLinks struct{ all, others int }

func (c *anchorCount) add(l *Inlink) {
	if *c == nil {
		*c = make(anchorCount)
	}
	n, known := (*c)[l.Anchor]
	if l.Anchor == "" || !known && len(*c) >= CountedAnchors {
		return
	}
	n.all++
	if index.FromOtherSite(l.Source, l.Target) {
		n.others++
	}
	(*c)[l.Anchor] = n
}

// best lists the n most frequent texts.
func (c anchorCount) best(n int) []index.Anchor {
	list := make([]index.Anchor, 0, len(c))
	for _, text := range slices.Sorted(maps.Keys(c)) {
		list = append(list, index.Anchor{Text: text, Count: c[text].all, Others: c[text].others})
	}
	slices.SortStableFunc(list, func(a, b index.Anchor) int { return cmp.Compare(b.Count, a.Count) })
	return list[:min(len(list), n)]
}
