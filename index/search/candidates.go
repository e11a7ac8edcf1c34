package search

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

	names   *Names                // caches analysed titles
	named   map[string][]nameWord // the names of sites in the query, by host (namedsite.go)
	fill    query.Breadth         // of the second tier
	partial int                   // documents without all the words that addPartial added to the first tier
	others  []string              // the addresses of documents that other words name (otherwise.go)
	fronts  int                   // front pages without all the words in the first tier (frontpage.go)

	unmatched []string // those of others that the second tier does not match
}

// Candidates are the hits in their final order, as far as the page needs them. They come in
// two tiers: documents with all the words and then, if those are few, documents with some
// of them. If the query has many words, documents with some of them also compete in the
// first tier (addPartial).

// deep returns how many documents of a tier the search examines.
func (s *search) deep() int { return max(rerankTop, s.opts.Offset+s.opts.Limit) }

// withAll returns the first tier.
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
	// manyInSentence is the same for a query with stop words. Such a query is a question or a
	// sentence, perhaps in other words than the page has, and not a list of words that the user
	// has read.
	manyInSentence = 3
)

// If the query has many words, addPartial adds the best documents without all of them to those of
// the first tier. A page can answer such a query without having every word, and a long page can
// have them all by chance. The documents compete by their scores, which a missing word lowers. If
// no document has all the words, the second tier finds these documents, so none are added.
func (s *search) addPartial(ctx context.Context, t *tier) error {
	least := manyWords
	if slices.ContainsFunc(s.c.Words, func(w query.Word) bool { return w.Stop }) {
		least = manyInSentence
	}
	if t.breadth != query.AllWords || t.total == 0 || s.c.Optional() < least || s.opts.Verbatim {
		return nil
	}
	if err := s.markCommon(ctx); err != nil {
		return err
	}
	s.fill = query.SomeWords
	some, _, err := s.byText(ctx, s.c.Partial(), rerankTop)
	if err != nil {
		return err
	}
	for i := range some {
		some[i].partial = true
	}
	s.partial = len(some)
	t.add(some)
	return nil
}

// filled adds the second tier to the first, if the first is short. As long as nothing is
// found, it drops one condition after the other: that stop words and common words do not
// count, that words are needed besides phrases and operators, and finally the phrases and
// operators. A part of the query that no document has must not hide what the rest would find.
func (s *search) filled(ctx context.Context, found []candidate) ([]candidate, error) {
	if s.res.AllWords >= FillBelow || len(s.c.Terms) == 0 {
		return found, nil
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
		s.res.Total = total + others // each breadth also finds what the breadth before it finds
		if total > 0 && s.fill == query.PlainWord {
			s.res.Notes = append(s.res.Notes, "No document has the words in quotes or after intitle: or inurl:, so these conditions were dropped.")
		}
		if total > 0 {
			return append(found, some...), nil
		}
	}
	return found, nil
}

// A word of more than commonWord documents is left out of the second tier if the query
// has a rarer word: it would be most of the cost and have little effect on the order.
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

// total returns the number of documents that match. The number is already known if fewer
// documents came than were asked for.
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

// matching returns the documents of the query's period that match an expression.
func (s *search) matching(expr *query.Expr) Matching { return Matching{expr, s.c.Fetched} }

const (
	// prominentTop is how many documents with the greatest ranks become candidates because of
	// their names.
	prominentTop = 20
	// prominentMost is the greatest number of documents whose ranks are compared. Each is a row to read.
	prominentMost = 5000
)

// addNamed adds the best documents that have the words in titles and anchors and are not
// among the best by text: a long page that buries the words of its title can still be the
// right one. Their text score is that of the names alone, but not above any found before.
// If rerankTop documents or fewer match, all of them are already found.
func (s *search) addNamed(ctx context.Context, t *tier) error {
	if t.breadth != query.AllWords || t.total <= rerankTop {
		return nil
	}
	named, err := s.byName(ctx)
	if err != nil {
		return err
	}
	named = without(named, t.found[:t.top])
	for i := range named {
		named[i].text = min(named[i].text, t.found[t.top-1].text)
	}
	t.add(named)
	return nil
}

// byName returns the best documents that have the words in titles and anchors. If very many have
// them, as all pages of a module have its name, the page about the whole module is seldom among the
// best by text. All the others link to it, so byName adds the documents with the greatest ranks.
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
	prominent, err = s.from.among(ctx, m, addresses(prominent), s.opts.Weights) // with their texts' scores
	return append(named, prominent...), err
}

// addresses returns the URLs of documents.
func addresses(list []candidate) []string {
	urls := make([]string, len(list))
	for i := range list {
		urls[i] = string(list[i].url)
	}
	return urls
}

// byText returns the best n documents by BM25, and how many match.
func (s *search) byText(ctx context.Context, expr *query.Expr, n int) ([]candidate, int, error) {
	return s.from.best(ctx, s.matching(expr), n, s.opts.Weights)
}
