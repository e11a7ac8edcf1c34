package search

import (
	"context"
	"slices"

	"github.com/webindexer/indexer/index/query"
)

// # Pages that use other words
//
// A page can be the answer to a query and say "remove" where the query says "delete"
// (query/synonyms.go). If the title of such a page, or the anchors that lead to it, have each word
// of the query or another word for it, the page is a candidate. Because it lacks a word, it
// competes as documents without all the words do (addPartial): the title of a page that has them
// all stays first.

const (
	// otherwiseTop is how many documents with other words are candidates.
	otherwiseTop = 20
	// otherwiseText is how much their texts count. In these, other words are as good as those of the
	// query.
	otherwiseText = 0.7
	// otherwiseLeast is the least number of words of the query. Another word for a single word
	// names another thing too often.
	otherwiseLeast = 2
)

// addOtherwise adds the best documents that other words name. They compete with those that
// have all the words, or some of them if none has all.
func (s *search) addOtherwise(ctx context.Context, t *tier) error {
	if t.breadth > query.SomeWords || t.total == 0 || len(t.above) > 0 || s.c.Optional() < otherwiseLeast {
		return nil
	}
	expr := s.c.Otherwise()
	if expr == nil {
		return nil
	}
	named, _, err := s.byText(ctx, expr, otherwiseTop)
	if err != nil {
		return err
	}
	if named = without(named, t.found[:t.top]); len(named) == 0 {
		return nil
	}
	named, err = s.from.among(ctx, s.matching(s.c.InOtherWords()), addresses(named), s.opts.Weights)
	if err != nil {
		return err
	}
	for i := range named {
		c := &named[i]
		c.partial = true
		c.text *= otherwiseText
	}
	s.others = addresses(named)
	t.add(named)
	return nil
}

// othersWithout counts the documents that addOtherwise added and that do not match an expression,
// and notes them in unmatched.
func (s *search) othersWithout(ctx context.Context, expr *query.Expr) (int, error) {
	if len(s.others) == 0 {
		return 0, nil
	}
	match, err := s.from.among(ctx, s.matching(expr), s.others, s.opts.Weights)
	matching := addresses(match)
	s.unmatched = slices.DeleteFunc(slices.Clone(s.others), func(u string) bool { return slices.Contains(matching, u) })
	return len(s.unmatched), err
}
