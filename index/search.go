package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/snippet"
	"github.com/webindexer/indexer/page"
)

// FillBelow is the number of documents with all the words below which documents with any of
// them follow. It does not depend on the requested page, so that the pages of a result, and
// its total, agree.
const FillBelow = 10

// rerankTop is how many of the best documents by BM25 are sorted again (rerank.go).
const rerankTop = 100

// Search finds documents; package query has the syntax of queries. A query that cannot be
// run gives a [UsageError]. No query makes SQLite fail.
func (v *View) Search(ctx context.Context, q string, opts Options) (*Results, error) {
	begun := time.Now()
	if err := opts.check(); err != nil {
		return nil, err
	}
	inUse, err := v.stemmers(ctx)
	if err != nil {
		return nil, explain(v.dir, v.path, "search", err)
	}
	c, err := query.Compile(q, inUse)
	if err != nil {
		return nil, err
	}
	s := newSearch(v, c, &opts, q)
	found, err := s.run(ctx, inUse)
	if err == nil && opts.Offset < len(found) {
		found = found[opts.Offset:min(len(found), opts.Offset+opts.Limit)]
		err = v.fill(ctx, found, s.c, opts.Offset, s.res)
		if err == nil && opts.Explain {
			err = s.explain(ctx, found, s.res.Hits)
		}
	}
	if err != nil {
		return nil, explain(v.dir, v.path, "search", err)
	}
	s.res.TookMS = float64(time.Since(begun).Microseconds()) / 1000
	return s.res, nil
}

func newSearch(v *View, c *query.Query, opts *Options, q string) *search {
	return &search{v: v, c: c, opts: opts, res: &Results{Query: q, Ignored: c.Ignored, Notes: c.Notes, Hits: []Hit{}}}
}

// run finds the candidates of the query or, if the query is misspelled and no document has
// all its words, of the query that was likely meant. That is decided before documents with
// some of the words are looked for, which are then not needed.
func (s *search) run(ctx context.Context, inUse []*analysis.Stemmer) ([]candidate, error) {
	found, err := s.withAll(ctx)
	if err != nil || s.res.AllWords > suggestRare || len(s.c.Terms) == 0 || s.opts.NoSuggestion {
		return s.filled(ctx, found, err)
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
	found, err = s.filled(ctx, found, nil)
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
	c, err := query.Compile(text, inUse)
	if err != nil {
		return nil, err
	}
	other := newSearch(s.v, c, s.opts, s.res.Query)
	other.index = s.index
	found, err := other.withAll(ctx)
	if found, err = other.filled(ctx, found, err); err != nil || other.res.Total == 0 {
		return found, err
	}
	other.res.Suggestion, other.res.ShowingFor = text, text
	*s = *other
	return found, nil
}

const selectHits = `SELECT ` + rowColumns + `, d.head, d.rest IS NOT NULL, t.fetched, t.indexed
	FROM json_each(?) j CROSS JOIN docs d ON d.id=j.value CROSS JOIN times t ON t.id=d.id ORDER BY j.key`

// fill makes hits of the candidates of one page.
func (v *View) fill(ctx context.Context, page []candidate, c *query.Query, offset int, res *Results) (err error) {
	ids := make([]int64, len(page))
	for i := range page {
		ids[i] = page[i].id
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	rows, err := v.query(ctx, selectHits, string(list))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for i := 0; rows.Next(); i++ {
		var row storedRow
		var head sql.RawBytes // valid until the next row
		var more bool
		var fetched, indexed int64
		h := Hit{Position: offset + i + 1, URL: page[i].url, Title: page[i].title, Score: page[i].score, Rank: page[i].rank, Language: page[i].language, MoreFromHost: page[i].moreFromHost}
		if err := row.scan(rows.Scan, &head, &more, &fetched, &indexed); err != nil {
			return err
		}
		h.Inlinks = int(row.inlinks)
		h.FetchedAt, h.IndexedAt = unpackTime(fetched), unpackTime(indexed)
		if h.Duplicates, err = duplicates(row.members, h.URL); err != nil {
			return fmt.Errorf("%s: %w", h.URL, err)
		}
		text, err := unpack(head)
		if err != nil {
			return fmt.Errorf("%s: %w", h.URL, err)
		}
		h.Snippet = snippet.Make(text, more, snippet.NewMatcher(c.Terms, h.Language))
		res.Hits = append(res.Hits, h)
	}
	return rows.Err()
}

func duplicates(members []byte, canonical page.URL) ([]page.URL, error) {
	var all []page.URL
	if err := fromJSON(members, &all); err != nil {
		return nil, err
	}
	others := []page.URL{}
	for _, u := range all {
		if u != canonical {
			others = append(others, u)
		}
	}
	return others, nil
}
