package search

import (
	"context"
	"time"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
)

// If fewer than FillBelow documents have all the words, documents with any of them follow.
// It does not depend on the requested page, so that the pages of a result, and its total,
// agree.
const FillBelow = 10

// rerankTop is how many of the best documents by BM25 are sorted again (rerank.go).
const rerankTop = 100

// Run searches one shard. See package query for the syntax of queries. A query that cannot be run
// gives a [UsageError]. Run keeps the analysis of names in n for other searches.
func Run(ctx context.Context, in Session, n *Names, q string, opts Options) (*Results, error) {
	begun := time.Now()
	if err := opts.check(); err != nil {
		return nil, err
	}
	res, err := searchAll(ctx, newFanout(in), n, q, &opts)
	if err != nil {
		return nil, err
	}
	res.TookMS = float64(time.Since(begun).Microseconds()) / 1000
	return res, nil
}

// searchAll searches all shards of a fanout.
func searchAll(ctx context.Context, from *fanout, n *Names, q string, opts *Options) (*Results, error) {
	if err := from.readStemmers(ctx); err != nil {
		return nil, err
	}
	inUse := stemmersOf(from.stemmers)
	c, err := query.Compile(q, inUse, opts.Verbatim)
	if err != nil {
		return nil, err
	}
	s := newSearch(from, n, c, opts, q)
	found, err := s.run(ctx, inUse)
	if s.res.Total == 0 {
		s.res.Notes = append(s.res.Notes, s.c.IfNothing...)
	}
	s.res.Folded = countFolded(found) // not before: diversify may leave out what something was folded into
	if err == nil && opts.Facets {
		s.res.Facets, err = s.facets(ctx, found)
	}
	if err == nil && opts.Offset < len(found) {
		found = found[opts.Offset:min(len(found), opts.Offset+opts.Limit)]
		err = s.show(ctx, found)
		if err == nil && opts.Explain {
			err = s.explain(ctx, found, s.res.Hits)
		}
	}
	return s.res, err
}

func newSearch(from *fanout, n *Names, c *query.Query, opts *Options, q string) *search {
	language := queryLanguage(c, opts.Language)
	for i := range c.Words {
		w := &c.Words[i]
		w.Stop = w.Stop || analysis.IsStopWord(w.Typed, language)
	}
	return &search{from: from, names: n, c: c, opts: opts, language: language, versions: askedVersions(c.Text), res: &Results{Query: q, Ignored: c.Ignored, Notes: c.Notes, Hits: []Hit{}}}
}

// run finds the candidates of the query or, if the query is misspelled and no document has
// all its words, of the query that was likely meant. It decides this before it looks for
// documents with some of the words, which are then not needed.
func (s *search) run(ctx context.Context, inUse []*analysis.Stemmer) ([]candidate, error) {
	found, err := s.withAll(ctx)
	if err != nil {
		return nil, err
	}
	if s.res.AllWords > suggestRare || len(s.c.Terms) == 0 || s.opts.NoSuggestion {
		return s.filled(ctx, found)
	}
	meant, err := s.suggest(ctx, inUse)
	if err != nil {
		return nil, err
	}
	if meant.documents > s.res.AllWords {
		s.res.Suggestion = meant.query
	}
	if s.res.AllWords == 0 && meant.documents > 0 && !s.opts.Verbatim {
		return s.instead(ctx, meant.query, inUse)
	}
	found, err = s.filled(ctx, found)
	switch {
	case err != nil || s.res.Total > 0:
	case meant.query != "" && !s.opts.Verbatim:
		return s.instead(ctx, meant.query, inUse)
	case meant.query == "":
		s.res.Suggestion, err = s.unquoted(ctx, inUse)
	}
	return found, err
}

// instead continues with another query that finds something.
func (s *search) instead(ctx context.Context, text string, inUse []*analysis.Stemmer) ([]candidate, error) {
	c, err := query.Compile(text, inUse, s.opts.Verbatim)
	if err != nil {
		return nil, err
	}
	other := newSearch(s.from, s.names, c, s.opts, s.res.Query)
	found, err := other.withAll(ctx)
	if err == nil {
		found, err = other.filled(ctx, found)
	}
	if err != nil || other.res.Total == 0 {
		return found, err
	}
	other.res.Suggestion, other.res.ShowingFor = text, text
	*s = *other
	return found, nil
}

// show makes hits of the candidates of one page.
func (s *search) show(ctx context.Context, page []candidate) (err error) {
	if s.res.Hits, err = s.from.hits(ctx, page, s.c); err != nil {
		return err
	}
	for i := range page {
		h, c := &s.res.Hits[i], &page[i]
		h.Position, h.Score, h.Rank, h.MoreFromHost = s.opts.Offset+i+1, c.score, c.rank, c.moreFromHost
		h.Also = c.alsoOf()
	}
	return nil
}
