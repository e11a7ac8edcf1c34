package search

import (
	"context"
	"slices"

	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/page"
)

// tier is the documents of one breadth of the query while they are found and sorted.
type tier struct {
	breadth query.Breadth
	above   []candidate // the previous tier
	total   int         // documents that match, including those of above
	found   []candidate // some of them, the best first
	top     int         // how many of found take part in the ranking; the others keep their order by BM25
}

// add adds documents to those that take part in the ranking.
func (t *tier) add(docs []candidate) {
	t.found = slices.Concat(t.found[:t.top], docs, without(slices.Clone(t.found[t.top:]), docs))
	t.top += len(docs)
}

// tier returns the documents of a breadth in their final order, as far as a result of n documents
// needs them, and how many there are. It leaves out the documents of above, the previous tier;
// above is nil for the first tier.
func (s *search) tier(ctx context.Context, b query.Breadth, n int, above []candidate) (found []candidate, total int, err error) {
	if s.opts.Sort == ByDate || len(s.c.Terms) == 0 {
		return s.unranked(ctx, s.c.Expr(b), n, above)
	}
	t := &tier{breadth: b, above: above}
	if err := s.collect(ctx, t, n); err != nil {
		return nil, 0, err
	}
	if err := s.score(ctx, t); err != nil {
		return nil, 0, err
	}
	found, err = s.arrange(ctx, t, n)
	return found, t.total, err
}

// unranked returns the tier of a query without words, or whose hits are sorted by date.
func (s *search) unranked(ctx context.Context, expr *query.Expr, n int, above []candidate) (found []candidate, total int, err error) {
	found, err = s.from.sorted(ctx, &SortedQuestion{Matching: s.matching(expr), N: n, ByDate: s.opts.Sort == ByDate})
	if err != nil {
		return nil, 0, err
	}
	total, err = s.total(ctx, expr, len(found), n)
	return without(found, above), total, err
}

// collect finds the n best documents by BM25, and those that may be better than BM25 shows. n is at
// least rerankTop, so the same documents take part in the ranking whatever page is requested.
func (s *search) collect(ctx context.Context, t *tier, n int) (err error) {
	if t.found, t.total, err = s.byText(ctx, s.c.Expr(t.breadth), n); err != nil {
		return err
	}
	t.top = min(len(t.found), rerankTop)
	for _, add := range []func(context.Context, *tier) error{s.addNamed, s.addPartial, s.addOtherwise, s.addFrontPages, s.addAddressed} {
		if err := add(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// score sorts the documents that take part in the ranking by their scores.
func (s *search) score(ctx context.Context, t *tier) error {
	all := t.breadth == query.AllWords
	if err := s.rerank(ctx, t.found[:t.top]); err != nil {
		return err
	}
	if err := s.preferPassages(ctx, t.found[:t.top]); err != nil {
		return err
	}
	if all && s.partial == 0 && len(s.others) == 0 && t.top == len(t.found) {
		if err := s.preferTyped(ctx, t.found); err != nil {
			return err
		}
	}
	for i := range t.found {
		t.found[i].allWords = all && !t.found[i].partial
	}
	return nil
}

// arrange folds documents that are alike, and fills the first page from several hosts.
func (s *search) arrange(ctx context.Context, t *tier, n int) (_ []candidate, err error) {
	best := without(slices.Clone(t.found[:t.top]), t.above)
	if best, err = s.readAndFold(ctx, t.above, best); err != nil {
		return nil, err
	}
	perHost := s.opts.PerHost
	if s.c.OneSite {
		perHost = 0
	}
	var more []candidate
	if perHost > 0 {
		if more, err = s.otherHosts(ctx, t, best); err != nil {
			return nil, err
		}
	}
	if more, err = s.readAndFold(ctx, best, more); err != nil {
		return nil, err
	}
	rest := without(without(t.found[t.top:], t.above), best)
	if short := s.opts.Offset + s.opts.Limit - len(t.above) - len(best) - len(rest); short > 0 && n < t.total {
		if rest, err = s.farther(ctx, t, n+short+t.top, best); err != nil {
			return nil, err
		}
	}
	return diversify(t.above, best, rest, more, perHost, !s.opts.Unfold), nil
}

// farther returns the best n documents by BM25 without those before them. Folding makes fewer
// results of the best documents, so a page far down needs more documents than there are results up
// to its end.
func (s *search) farther(ctx context.Context, t *tier, n int, best []candidate) ([]candidate, error) {
	found, _, err := s.byText(ctx, s.c.Expr(t.breadth), n)
	for i := range found {
		found[i].allWords = t.breadth == query.AllWords
	}
	return without(without(found, t.above), best), err
}

// without removes from list what is in seen, or folded into an element of seen. It compares URLs,
// because two shards may have the same URL (merged).
func without(list, seen []candidate) []candidate {
	urls := make(map[page.URL]bool, len(seen))
	for i := range seen {
		urls[seen[i].url] = true
		for _, c := range seen[i].hidden() {
			urls[c.url] = true
		}
	}
	return slices.DeleteFunc(list, func(c candidate) bool { return urls[c.url] })
}
