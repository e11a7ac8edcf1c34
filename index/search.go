package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"indexer/page"
)

// FillBelow is the number of documents with all the words below which those with
// any of them follow. It does not depend on the page asked for, so that the pages
// of a result, and its total, fit together.
const FillBelow = 10

// rerankTop is how many of the best by BM25 are sorted again (rerank.go).
const rerankTop = 100

// Search finds documents; the query syntax is in query_parse.go. A query that
// cannot be run gives a [UsageError]; there is no query that SQLite would refuse.
func (v *View) Search(ctx context.Context, q string, opts Options) (*Results, error) {
	begun := time.Now()
	if err := opts.check(); err != nil {
		return nil, err
	}
	inUse, err := v.stemmers(ctx)
	if err != nil {
		return nil, fmt.Errorf("index %s: search: %w", v.dir, err)
	}
	c, err := compileQuery(q, inUse)
	if err != nil {
		return nil, err
	}
	res := &Results{Query: q, Ignored: c.ignored, Hits: []Hit{}}
	found, err := v.candidates(ctx, c, opts, res)
	if err == nil && opts.Offset < len(found) {
		found = found[opts.Offset:min(len(found), opts.Offset+opts.Limit)]
		err = v.fill(ctx, found, c, opts.Offset, res)
	}
	if err != nil {
		return nil, fmt.Errorf("index %s: search: %w", v.dir, err)
	}
	res.TookMS = float64(time.Since(begun).Microseconds()) / 1000
	return res, nil
}

// candidates are the hits in their final order, as far as the page needs them.
func (v *View) candidates(ctx context.Context, c *compiled, opts Options, res *Results) ([]candidate, error) {
	n := max(rerankTop, opts.Offset+opts.Limit)
	if len(c.terms) == 0 {
		found, err := v.byRank(ctx, c.all(), n)
		if err != nil {
			return nil, err
		}
		res.Total, err = v.total(ctx, c.all(), len(found), n)
		res.AllWords = res.Total
		return found, err
	}
	found, err := v.byText(ctx, c.all(), opts.Weights, n)
	if err != nil {
		return nil, err
	}
	if res.AllWords, err = v.total(ctx, c.all(), len(found), n); err != nil {
		return nil, err
	}
	res.Total = res.AllWords
	rerank(found, c.terms)
	if res.AllWords >= FillBelow || c.any() == c.all() {
		return found, nil
	}
	some, err := v.byText(ctx, c.any(), opts.Weights, n+FillBelow)
	if err != nil {
		return nil, err
	}
	if res.Total, err = v.total(ctx, c.any(), len(some), n+FillBelow); err != nil {
		return nil, err
	}
	some = without(some, found) // any() matches whatever all() does
	rerank(some, c.terms)
	return append(found, some...), nil
}

// without removes from list what is in seen.
func without(list, seen []candidate) []candidate {
	ids := make(map[int64]bool, len(seen))
	for _, c := range seen {
		ids[c.id] = true
	}
	return slices.DeleteFunc(list, func(c candidate) bool { return ids[c.id] })
}

// total is the number of documents that match; known when fewer came than asked for.
func (v *View) total(ctx context.Context, expr string, got, asked int) (int, error) {
	if got < asked {
		return got, nil
	}
	var n int
	err := v.tx.QueryRowContext(ctx, "SELECT count(*) FROM fts WHERE fts MATCH ?", expr).Scan(&n)
	return n, err
}

// byText orders equal scores by row id, as FTS5 does, so that a longer list begins
// with the shorter one.
func (v *View) byText(ctx context.Context, expr string, w Weights, n int) ([]candidate, error) {
	return v.scanCandidates(ctx, `SELECT x.rowid, -x.rank, r.rank, d.url, d.language, d.title
		FROM (SELECT rowid, rank FROM fts WHERE fts MATCH ? AND rank MATCH ? ORDER BY rank LIMIT ?) x
		CROSS JOIN docs d ON d.id=x.rowid CROSS JOIN ranks r ON r.id=x.rowid
		ORDER BY x.rank, x.rowid`, expr, w.rankFunction(), n)
}

func (v *View) byRank(ctx context.Context, expr string, n int) ([]candidate, error) {
	return v.scanCandidates(ctx, `SELECT d.id, r.rank, r.rank, d.url, d.language, d.title
		FROM (SELECT rowid FROM fts WHERE fts MATCH ?) x
		CROSS JOIN docs d ON d.id=x.rowid CROSS JOIN ranks r ON r.id=x.rowid
		ORDER BY r.rank DESC, d.url LIMIT ?`, expr, n)
}

func (v *View) scanCandidates(ctx context.Context, query string, args ...any) (list []candidate, err error) {
	rows, err := v.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var c candidate
		if err := rows.Scan(&c.id, &c.score, &c.rank, &c.url, &c.language, &c.title); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, rows.Err()
}

// fill makes hits of the candidates of one page.
func (v *View) fill(ctx context.Context, page []candidate, c *compiled, offset int, res *Results) (err error) {
	ids := make([]int64, len(page))
	for i := range page {
		ids[i] = page[i].id
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	rows, err := v.tx.QueryContext(ctx, `SELECT d.inlinks, d.members, d.head, d.rest IS NOT NULL, t.fetched
		FROM json_each(?) j CROSS JOIN docs d ON d.id=j.value CROSS JOIN times t ON t.id=d.id ORDER BY j.key`, string(list))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for i := 0; rows.Next(); i++ {
		var members, head []byte
		var more bool
		var fetched int64
		h := Hit{Position: offset + i + 1, URL: page[i].url, Title: page[i].title, Score: page[i].score, Rank: page[i].rank, Language: page[i].language}
		if err := rows.Scan(&h.Inlinks, &members, &head, &more, &fetched); err != nil {
			return err
		}
		h.FetchedAt = unpackTime(fetched)
		if h.Duplicates, err = duplicates(members, h.URL); err != nil {
			return fmt.Errorf("%s: %w", h.URL, err)
		}
		text, err := unpack(head)
		if err != nil {
			return fmt.Errorf("%s: %w", h.URL, err)
		}
		h.Snippet = makeSnippet(text, more, newMatcher(c.terms, h.Language))
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
