package observers

import (
	"cmp"
	"context"
	"maps"
	"math"
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
	v := inlinkVisit{members: members, inside: rowsOf(members)}
	_, err := v.next(ctx, tx, math.MaxInt, fn)
	return err
}

// inlinkVisit is a visit of inlinks that can be made in parts.
type inlinkVisit struct {
	members []page.URL      // not yet visited to the end
	inside  map[string]bool // rows of all members
	from    string          // the pair row of the first of members to go on from, "" for its first
}

func rowsOf(members []page.URL) map[string]bool {
	rows := make(map[string]bool, len(members))
	for _, m := range members {
		rows[schema.URLRow(m)] = true
	}
	return rows
}

// next visits some more, and says whether that was all: looking for the link rows of a
// member, and each of the rows, count one to the limit.
func (v *inlinkVisit) next(ctx context.Context, tx *txn.Txn, limit int, fn func(Inlink) error) (all bool, err error) {
	n := 0
	for ; len(v.members) > 0; v.members, v.from = v.members[1:], "" {
		if v.from == "" {
			n++
		}
		if n > limit {
			return false, nil
		}
		m, more := v.members[0], false
		prefix := schema.PairPrefix(m)
		err := tx.Scan(ctx, schema.GroupLink, max(v.from, prefix), txn.PrefixEnd(prefix), func(row string, cols []txn.Version) error {
			if n++; n > limit {
				v.from, more = row, true
				return txn.ErrStop
			}
			source := schema.PairSource(row)
			if v.inside[source] {
				return nil
			}
			return visitAnchors(source, m, cols, fn)
		})
		if err != nil || more {
			return false, err
		}
	}
	return true, nil
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
