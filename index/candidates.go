package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/index/query"
)

// search is one run of a query on a view.
type search struct {
	v    *View
	c    *query.Query
	opts *Options
	res  *Results

	index *textIndex    // opened by text
	fill  query.Breadth // of the second tier
}

// text is the full-text index of the view, with what this search has read of it so far.
func (s *search) text(ctx context.Context) (*textIndex, error) {
	if s.index == nil {
		x, err := s.v.text(ctx)
		if err != nil {
			return nil, err
		}
		s.index = x
	}
	return s.index, nil
}

// Candidates are the hits in their final order, as far as the page needs them. They come in
// two tiers: documents with all the words and then, if those are few, documents with some
// of them.

// deep is how many documents of a tier are looked at.
func (s *search) deep() int { return max(rerankTop, s.opts.Offset+s.opts.Limit) }

// withAll is the first tier.
func (s *search) withAll(ctx context.Context) ([]candidate, error) {
	found, total, err := s.tier(ctx, query.AllWords, s.deep(), nil)
	s.res.AllWords, s.res.Total = total, total
	return found, err
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
		s.res.Total = total // each breadth finds what the breadth before it finds
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
	x, err := s.text(ctx)
	if err != nil {
		return err
	}
	optional, common := 0, 0
	for _, t := range s.c.Terms {
		if t.Required || t.Stop {
			continue
		}
		optional++
		ids, err := x.matching(ctx, t.Relaxed())
		if err != nil {
			return err
		}
		if t.Common = len(ids) > commonWord; t.Common {
			common++
		}
	}
	for _, t := range s.c.Terms {
		t.Common = t.Common && common < optional
	}
	return nil
}

// tier is the best n documents of a breadth, without those of the tier above, and the
// number of all its documents. above is nil for the first tier.
func (s *search) tier(ctx context.Context, b query.Breadth, n int, above []candidate) (found []candidate, total int, err error) {
	expr, all := s.c.Expr(b), b == query.AllWords
	switch {
	case s.opts.Sort == ByDate:
		found, err = s.sorted(ctx, expr, "t.fetched DESC, d.url", n)
	case len(s.c.Terms) == 0:
		found, err = s.sorted(ctx, expr, "r.rank DESC, d.url", n)
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
		named, _, err := s.bestByText(ctx, s.c.Named(), rerankTop)
		if err != nil {
			return nil, 0, err
		}
		rows, err := s.rows(ctx, others(named, found[:top]))
		if err != nil {
			return nil, 0, err
		}
		found, top = addNamed(found, rows)
	}
	if err := s.rerank(ctx, found[:top]); err != nil {
		return nil, 0, err
	}
	for i := range found {
		found[i].allWords = all
	}
	found = without(found, above)
	if s.opts.PerHost > 0 && !s.c.OneSite {
		more, err := s.otherHosts(ctx, b, above, found, total)
		if err != nil {
			return nil, 0, err
		}
		found = diversify(above, found, more, s.opts.PerHost)
	}
	return found, total, nil
}

// without removes from list what is in seen.
func without(list, seen []candidate) []candidate {
	ids := make(map[int64]bool, len(seen))
	for _, c := range seen {
		ids[c.id] = true
	}
	return slices.DeleteFunc(list, func(c candidate) bool { return ids[c.id] })
}

// total is the number of documents that match. It is known if fewer came than were asked
// for.
func (s *search) total(ctx context.Context, expr *query.Expr, got, asked int) (n int, err error) {
	if got < asked {
		return got, nil
	}
	text, args := "SELECT count(*) FROM times t WHERE true"+fetchedIn(s.c.Fetched, "t.id"), []any{}
	if expr != nil {
		text, args = "SELECT count(*) FROM fts WHERE fts MATCH ?"+fetchedIn(s.c.Fetched, "fts.rowid"), []any{expr.String()}
	}
	err = s.v.tx.QueryRowContext(ctx, text, args...).Scan(&n)
	return n, err
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

const candidateColumns = "r.rank, d.url, d.language, d.title"

// others removes from list what is in seen, whose rows need not be read again.
func others(list []scored, seen []candidate) []scored {
	ids := make(map[int64]bool, len(seen))
	for i := range seen {
		ids[seen[i].id] = true
	}
	return slices.DeleteFunc(list, func(d scored) bool { return ids[d.id] })
}

func (s *search) byText(ctx context.Context, expr *query.Expr, n int) ([]candidate, int, error) {
	best, total, err := s.bestByText(ctx, expr, n)
	if err != nil {
		return nil, 0, err
	}
	found, err := s.rows(ctx, best)
	return found, total, err
}

// bestByText is the best n documents by BM25, and how many match. Equal scores are ordered
// by row id, so that a longer list begins with the shorter one.
func (s *search) bestByText(ctx context.Context, expr *query.Expr, n int) ([]scored, int, error) {
	x, err := s.text(ctx)
	if err != nil {
		return nil, 0, err
	}
	ids, err := x.dated(ctx, expr, s.c.Fetched)
	if err != nil {
		return nil, 0, err
	}
	scores, err := x.scores(ctx, expr, ids, s.opts.Weights.columns())
	if err != nil {
		return nil, 0, err
	}
	return bestOf(ids, scores[0], n), len(ids), nil
}

const selectCandidates = "SELECT j.key, " + candidateColumns + " FROM json_each(?) j CROSS JOIN docs d ON d.id=j.value CROSS JOIN ranks r ON r.id=j.value"

// rows is the documents with what is needed to sort them.
func (s *search) rows(ctx context.Context, list []scored) ([]candidate, error) {
	out := make([]candidate, len(list))
	var missing []int64
	var at []int // in out
	for i, d := range list {
		c, known := s.v.cache.candidates.get(d.id)
		if !known {
			missing, at = append(missing, d.id), append(at, i)
		}
		out[i] = c
	}
	if err := s.readCandidates(ctx, missing, func(i int, c candidate) {
		s.v.cache.addCandidate(c)
		out[at[i]] = c
	}); err != nil {
		return nil, err
	}
	for i, d := range list {
		out[i].score, out[i].text = d.text, d.text
	}
	return out, nil
}

// readCandidates reads what documents are sorted by, and calls fn with each, in any order.
func (s *search) readCandidates(ctx context.Context, ids []int64, fn func(i int, c candidate)) (err error) {
	if len(ids) == 0 {
		return nil
	}
	wanted, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	rows, err := s.v.query(ctx, selectCandidates, string(wanted))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	n := 0
	for ; rows.Next(); n++ {
		var i int
		var c candidate
		if err := rows.Scan(&i, &c.rank, &c.url, &c.language, &c.title); err != nil {
			return err
		}
		c.id = ids[i]
		fn(i, c)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if n != len(ids) {
		return fmt.Errorf("%w: %d documents of the full-text index are missing", ErrCorrupt, len(ids)-n)
	}
	return nil
}

// sorted gives matches in an order that has nothing to do with words. Their score is the
// rank. If the expression is nil, all documents match.
func (s *search) sorted(ctx context.Context, expr *query.Expr, order string, n int) ([]candidate, error) {
	from, args := "(SELECT rowid FROM fts WHERE fts MATCH ?)", []any{expr.String(), n}
	if expr == nil {
		from, args = "(SELECT id AS rowid FROM times)", []any{n}
	}
	return s.scan(ctx, "SELECT x.rowid, r.rank, "+candidateColumns+" FROM "+from+` x
		CROSS JOIN times t ON t.id=x.rowid CROSS JOIN ranks r ON r.id=x.rowid CROSS JOIN docs d ON d.id=x.rowid
		WHERE true`+fetchedIn(s.c.Fetched, "x.rowid")+" ORDER BY "+order+" LIMIT ?", args...)
}

func (s *search) scan(ctx context.Context, query string, args ...any) (list []candidate, err error) {
	rows, err := s.v.tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var c candidate
		if err := rows.Scan(&c.id, &c.score, &c.rank, &c.url, &c.language, &c.title); err != nil {
			return nil, err
		}
		c.text = c.score
		list = append(list, c)
	}
	return list, rows.Err()
}
