package index

import (
	"context"
	"slices"

	"github.com/webindexer/indexer/index/query"
)

// search is one run of a query.
type search struct {
	from *fanout
	c    *query.Query
	opts *Options
	res  *Results

	language string // that the query is assumed to be in

	versions []pageVersion // that the query names

	names   *names                // analysed titles
	named   map[string][]nameWord // the names of sites in the query, by host (namedsite.go)
	fill    query.Breadth         // of the second tier
	partial int                   // documents without all the words that addPartial added to the first tier
	others  []string              // the addresses of documents that are named in other words (otherwise.go)
	fronts  int                   // front pages without all the words in the first tier (frontpage.go)
}

// Candidates are the hits in their final order, as far as the page needs them. They come in
// two tiers: documents with all the words and then, if those are few, documents with some
// of them. If the query has many words, documents with some of them take part in the first
// tier, too (addPartial).

// deep is how many documents of a tier are looked at.
func (s *search) deep() int { return max(rerankTop, s.opts.Offset+s.opts.Limit) }

// withAll is the first tier.
func (s *search) withAll(ctx context.Context) ([]candidate, error) {
	found, total, err := s.tier(ctx, query.AllWords, s.deep(), nil)
	s.res.AllWords, s.res.Total = total, total+s.partial+len(s.others)+s.fronts
	return found, err
}

const (
	// manyWords is the least number of words of a query for which documents without all of them
	// join the first tier (addPartial). With three, documents that have two rare words in their
	// titles came before documents that have all three.
	manyWords = 4
	// manyInSentence is the same for a query with stop words. That is a question or a sentence, in
	// other words than the page may have, and no list of words that somebody has read.
	manyInSentence = 3
)

// addPartial adds the best documents without all the words to those of the first tier, if the
// query has many. A page can answer such a query without each word of it, and a long page has
// them all by chance. The documents compete by their scores, which a missing word lowers. If
// no document has all the words, the second tier finds these documents, so none are added.
// top is the number of candidates that rerank sorts.
func (s *search) addPartial(ctx context.Context, found []candidate, total, top int) ([]candidate, int, error) {
	least := manyWords
	if slices.ContainsFunc(s.c.Words, func(w query.Word) bool { return w.Stop }) {
		least = manyInSentence
	}
	if total == 0 || s.c.Optional() < least || s.opts.Verbatim {
		return found, top, nil
	}
	if err := s.markCommon(ctx); err != nil {
		return nil, 0, err
	}
	s.fill = query.SomeWords
	some, _, err := s.byText(ctx, s.c.Partial(), rerankTop)
	if err != nil {
		return nil, 0, err
	}
	for i := range some {
		some[i].partial = true
	}
	s.partial = len(some)
	return append(append(found[:top:top], some...), found[top:]...), top + len(some), nil
}

// filled adds the second tier to the first, if that is short. If nothing is found, it gives
// up more and more conditions: that stop words and common words do not count, that words
// are needed besides phrases and operators, and finally the phrases and operators. A part
// of the query that no document has must not hide what the rest would find.
func (s *search) filled(ctx context.Context, found []candidate, err error) ([]candidate, error) {
	if err != nil || s.res.AllWords >= FillBelow || len(s.c.Terms) == 0 {
		return found, err
	}
	n := s.deep() + FillBelow
	if s.partial > 0 {
		expr := s.c.Expr(query.SomeWords)
		some, total, err := s.byText(ctx, expr, n+s.partial+len(s.others))
		if err != nil {
			return nil, err
		}
		others, err := s.othersWithout(ctx, expr)
		s.res.Total = total + others
		return append(found, without(some, found)...), err
	}
	if err := s.markCommon(ctx); err != nil {
		return nil, err
	}
	if found == nil {
		found = []candidate{}
	}
	last := query.PlainWord
	if s.opts.Verbatim {
		last = query.AnyWord
	}
	for s.fill = query.SomeWords; s.fill == query.SomeWords || s.fill <= last && s.res.Total == 0; s.fill++ {
		if expr := s.c.Expr(s.fill); expr == nil || expr.String() == s.c.Expr(s.fill-1).String() {
			continue
		}
		some, total, err := s.tier(ctx, s.fill, n, found)
		if err != nil {
			return nil, err
		}
		others, err := s.othersWithout(ctx, s.c.Expr(s.fill))
		if err != nil {
			return nil, err
		}
		s.res.Total = total + others // each breadth finds what the breadth before it finds
		if total > 0 && s.fill == query.PlainWord {
			s.res.Notes = append(s.res.Notes, "No document has the words in quotes or after intitle: or inurl:, so these conditions were dropped.")
		}
		if total > 0 {
			return append(found, some...), nil
		}
	}
	return found, nil
}

// commonWord is the number of documents above which a word is left out of the second tier
// if a rarer word is there: it would be most of the cost and have little effect on the
// order.
const commonWord = 2000

// markCommon finds the common words of the query.
func (s *search) markCommon(ctx context.Context) error {
	var optional []*query.Term
	var sets []Matching
	for _, t := range s.c.Terms {
		if !t.Required && !t.Stop {
			optional, sets = append(optional, t), append(sets, Matching{Expr: t.Relaxed()})
		}
	}
	counts, err := s.from.counts(ctx, sets...)
	if err != nil {
		return err
	}
	common := 0
	for i, t := range optional {
		if t.Common = counts[i] > commonWord; t.Common {
			common++
		}
	}
	for _, t := range s.c.Terms {
		t.Common = t.Common && common < len(optional)
	}
	return nil
}

// tier is the best n documents of a breadth, without those of the tier above, and the
// number of all its documents. above is nil for the first tier.
func (s *search) tier(ctx context.Context, b query.Breadth, n int, above []candidate) (found []candidate, total int, err error) {
	expr, all := s.c.Expr(b), b == query.AllWords
	switch {
	case s.opts.Sort == ByDate || len(s.c.Terms) == 0:
		found, err = s.from.sorted(ctx, &SortedQuestion{Matching: s.matching(expr), N: n, ByDate: s.opts.Sort == ByDate})
	default:
		found, total, err = s.byText(ctx, expr, n)
	}
	if err != nil {
		return nil, 0, err
	}
	if s.opts.Sort == ByDate || len(s.c.Terms) == 0 {
		total, err = s.total(ctx, expr, len(found), n)
		return without(found, above), total, err
	}
	top := min(len(found), rerankTop)
	if all && total > rerankTop {
		named, err := s.byName(ctx)
		if err != nil {
			return nil, 0, err
		}
		found, top = addNamed(found, named)
	}
	if all {
		if found, top, err = s.addPartial(ctx, found, total, top); err != nil {
			return nil, 0, err
		}
	}
	if found, top, err = s.addOtherwise(ctx, b, found, above, total, top); err != nil {
		return nil, 0, err
	}
	if found, top, err = s.addFrontPages(ctx, b, found, top); err != nil {
		return nil, 0, err
	}
	if found, top, err = s.addAddressed(ctx, b, found, top); err != nil {
		return nil, 0, err
	}
	if err := s.rerank(ctx, found[:top]); err != nil {
		return nil, 0, err
	}
	if err := s.preferPassages(ctx, found[:top]); err != nil {
		return nil, 0, err
	}
	if all && s.partial == 0 && len(s.others) == 0 && top == len(found) {
		if err := s.preferTyped(ctx, found); err != nil {
			return nil, 0, err
		}
	}
	for i := range found {
		found[i].allWords = all && !found[i].partial
	}
	best := without(slices.Clone(found[:top]), above)
	if !s.opts.Unfold {
		if best, err = s.readAndFold(ctx, above, best); err != nil {
			return nil, 0, err
		}
	}
	perHost := s.opts.PerHost
	if s.c.OneSite {
		perHost = 0
	}
	var more []candidate
	if perHost > 0 {
		if more, err = s.otherHosts(ctx, b, above, best, total); err != nil {
			return nil, 0, err
		}
	}
	if !s.opts.Unfold {
		if more, err = s.readAndFold(ctx, best, more); err != nil {
			return nil, 0, err
		}
	}
	rest := without(without(found[top:], above), best)
	if short := s.opts.Offset + s.opts.Limit - len(above) - len(best) - len(rest); short > 0 && n < total {
		if rest, err = s.farther(ctx, b, n+short+top, above, best); err != nil {
			return nil, 0, err
		}
	}
	return diversify(above, best, rest, more, perHost, !s.opts.Unfold), total, nil
}

// farther is the best n documents by BM25 without those above. Folding makes fewer results of
// the best documents, so a page far down needs more documents than the results up to its end.
func (s *search) farther(ctx context.Context, b query.Breadth, n int, above, best []candidate) ([]candidate, error) {
	found, _, err := s.byText(ctx, s.c.Expr(b), n)
	for i := range found {
		found[i].allWords = b == query.AllWords
	}
	return without(without(found, above), best), err
}

// without removes from list what is in seen, or folded into that.
func without(list, seen []candidate) []candidate {
	ids := make(map[int64]bool, len(seen))
	for i := range seen {
		ids[seen[i].id] = true
		if seen[i].folded != nil {
			for _, c := range *seen[i].folded {
				ids[c.id] = true
			}
		}
	}
	return slices.DeleteFunc(list, func(c candidate) bool { return ids[c.id] })
}

// total is the number of documents that match. It is known if fewer came than were asked
// for.
func (s *search) total(ctx context.Context, expr *query.Expr, got, asked int) (n int, err error) {
	if got < asked {
		return got, nil
	}
	counts, err := s.from.counts(ctx, s.matching(expr))
	if err != nil {
		return 0, err
	}
	return counts[0], nil
}

// matching is the documents of the query's period that match an expression.
func (s *search) matching(expr *query.Expr) Matching { return Matching{expr, s.c.Fetched} }

const (
	// prominentTop is how many documents with the greatest ranks are candidates by their names.
	prominentTop = 20
	// prominentMost is the greatest number of documents whose ranks are compared, each of which is a row
	// to read.
	prominentMost = 5000
)

// byName is the best documents that have the words in titles and anchors. If very many have them, as
// all pages of a module have its name, the page about all of it is seldom among the best by text: it
// is the one that they all link to. So the documents with the greatest ranks are added.
func (s *search) byName(ctx context.Context) ([]candidate, error) {
	m := s.matching(s.c.Named())
	named, total, err := s.from.best(ctx, m, rerankTop, s.opts.Weights)
	if err != nil || total <= len(named) || total > prominentMost {
		return named, err
	}
	prominent, err := s.from.sorted(ctx, &SortedQuestion{Matching: m, N: prominentTop})
	if err != nil {
		return nil, err
	}
	if prominent = without(prominent, named); len(prominent) == 0 {
		return named, nil
	}
	urls := make([]string, len(prominent))
	for i := range prominent {
		urls[i] = string(prominent[i].url)
	}
	prominent, err = s.from.among(ctx, m, urls, s.opts.Weights) // with their texts' scores
	return append(named, prominent...), err
}

// addNamed adds the best documents that have the words in titles and anchors and are not
// among the best by text: a long page, in which the words of its title are lost, can still
// be the right one. Their text score is that of the names alone, but not above any found
// before. top is how many are to be sorted again. If more than rerankTop documents match,
// this is the same list at any limit and offset.
func addNamed(found, named []candidate) (list []candidate, top int) {
	at := min(len(found), rerankTop)
	named = without(named, found[:at])
	for i := range named {
		named[i].text = min(named[i].text, found[at-1].text)
		named[i].score = named[i].text
	}
	rest := without(slices.Clone(found[at:]), named)
	return append(append(found[:at:at], named...), rest...), at + len(named)
}

// byText is the best n documents by BM25, and how many match.
func (s *search) byText(ctx context.Context, expr *query.Expr, n int) ([]candidate, int, error) {
	return s.from.best(ctx, s.matching(expr), n, s.opts.Weights)
}
