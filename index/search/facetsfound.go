package search

import (
	"context"
	"slices"

	"github.com/webindexer/indexer/index/query"
)

// dropUnfound removes values whose filters do not find their documents. If no document of a value has a
// word of the query, the search with the filter does not look for other words (addOtherwise).
func (s *search) dropUnfound(ctx context.Context, b query.Breadth, best []candidate, f *Facets) error {
	matching := slices.DeleteFunc(slices.Clone(best), func(c candidate) bool { return c.partial })
	var doubtful []*Facet
	var tags []rune
	for _, k := range f.kinds() {
		for i := range *k.list {
			v := &(*k.list)[i]
			if !slices.ContainsFunc(matching, func(c candidate) bool { return k.has(&c, v.Value) }) {
				doubtful, tags = append(doubtful, v), append(tags, k.tag)
			}
		}
	}
	if len(doubtful) == 0 {
		return nil
	}
	if b == query.AllWords {
		if err := s.markCommon(ctx); err != nil {
			return err
		}
		b = query.SomeWords
	}
	sets := make([]Matching, len(doubtful))
	for i, v := range doubtful {
		sets[i], _ = s.filtered(b, tags[i], v)
	}
	counts, err := s.from.counts(ctx, sets...)
	for i, n := range counts {
		if n == 0 {
			doubtful[i].Documents = 0
		}
	}
	f.dropEmpty()
	return err
}

// dropEmpty removes values without documents.
func (f *Facets) dropEmpty() {
	for _, k := range f.kinds() {
		*k.list = slices.DeleteFunc(*k.list, func(v Facet) bool { return v.Documents == 0 })
	}
}
