package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// viewShard is the session of a shard whose files are on this machine.
type viewShard struct {
	v     *View
	index *textIndex // opened by text
}

// text returns the full-text index of the view, with a cache of what this session has read.
func (s *viewShard) text(ctx context.Context) (*textIndex, error) {
	if s.index == nil {
		x, err := s.v.text(ctx)
		if err != nil {
			return nil, err
		}
		s.index = x
	}
	return s.index, nil
}

// Close implements search.Session. It does not close the view: the owner does.
func (s *viewShard) Close() error { return nil }

// Ask implements search.Session.
func (s *viewShard) Ask(ctx context.Context, q *search.Question) (*search.Answer, error) {
	return search.AnswerFrom(ctx, s, q)
}

func (s *viewShard) Documents(context.Context) (int, error) { return s.v.state.Documents, nil }

func (s *viewShard) Stemmers(ctx context.Context) ([]string, error) { return s.v.stemmers(ctx) }

// Statistics counts the documents with each phrase, whenever they were fetched.
func (s *viewShard) Statistics(ctx context.Context, phrases []*query.Expr) (out search.Statistics, err error) {
	x, err := s.text(ctx)
	if err != nil {
		return out, err
	}
	out.Rows, out.Tokens = x.index.Totals.Rows, x.index.Totals.Tokens
	out.Documents = make([]int, len(phrases))
	for i, p := range phrases {
		f, err := x.phrase(ctx, p)
		if err != nil {
			return out, err
		}
		out.Documents[i] = len(f.ids)
	}
	return out, nil
}

func (s *viewShard) Counts(ctx context.Context, list []search.Matching) ([]int, error) {
	out := make([]int, len(list))
	for i, m := range list {
		if m.Expr == nil {
			err := s.v.tx.QueryRowContext(ctx, "SELECT count(*) FROM times t WHERE true"+fetchedIn(m.Fetched, "t.id")).Scan(&out[i])
			if err != nil {
				return nil, err
			}
			continue
		}
		x, err := s.text(ctx)
		if err != nil {
			return nil, err
		}
		ids, err := x.dated(ctx, m.Expr, m.Fetched)
		if err != nil {
			return nil, err
		}
		out[i] = len(ids)
	}
	return out, nil
}

// mostTied bounds how many documents with the same score as the last of the best are
// examined. If there are more, those that were indexed first are examined. It is more than a search
// asks for, so the same documents are examined for each page of a result.
const mostTied = 2500

// Best returns the best documents by BM25, and how many match. Equal scores are ordered by
// URL, so that a longer list begins with the shorter one, in any division into shards.
func (s *viewShard) Best(ctx context.Context, q *search.BestQuestion) ([]search.Found, int, error) {
	x, err := s.text(ctx)
	if err != nil {
		return nil, 0, err
	}
	ids, err := x.dated(ctx, q.Expr, q.Fetched)
	if err != nil {
		return nil, 0, err
	}
	if q.URLs != nil {
		if ids, err = s.withURL(ctx, ids, q.URLs); err != nil {
			return nil, 0, err
		}
	}
	scores, err := x.scores(ctx, q.Expr, q.Statistics, ids, weightsOf(&q.Weights))
	if err != nil {
		return nil, 0, err
	}
	top := bestOf(ids, scores[0], q.N)
	if n := len(top); n > 0 && n < len(ids) {
		top = withTied(top, ids, scores[0])
	}
	list, err := s.rows(ctx, top)
	if err != nil {
		return nil, 0, err
	}
	slices.SortFunc(list, search.BetterFound)
	return list[:min(max(q.N, 0), len(list))], len(ids), nil
}

// withURL returns the documents of a list, in its order, that have one of these canonical URLs.
func (s *viewShard) withURL(ctx context.Context, ids []int64, urls []string) (list []int64, err error) {
	wanted, err := json.Marshal(urls)
	if err != nil {
		return nil, err
	}
	rows, err := s.v.query(ctx, "SELECT d.id FROM json_each(?) j CROSS JOIN docs d ON d.url=j.value ORDER BY d.id", string(wanted))
	err = eachRow(rows, err, func() error {
		var id int64
		err := rows.Scan(&id)
		if _, matches := slices.BinarySearch(ids, id); matches {
			list = append(list, id)
		}
		return err
	})
	return list, err
}

// withTied returns a list in the order of bestOf with more of the documents that have the same score as
// its last one, up to mostTied of them.
func withTied(list []scored, ids []int64, scores []float64) []scored {
	last := list[len(list)-1]
	first := slices.IndexFunc(list, func(s scored) bool { return s.text == last.text })
	for i, id := range ids {
		if scores[i] == last.text && id > last.id && len(list)-first < mostTied {
			list = append(list, scored{id, scores[i]})
		}
	}
	return list
}

const candidateColumns = "r.rank, d.url, d.language, d.title"

const selectCandidates = "SELECT j.key, " + candidateColumns + " FROM json_each(?) j CROSS JOIN docs d ON d.id=j.value CROSS JOIN ranks r ON r.id=j.value"

// rows returns the documents with what is needed to sort them.
func (s *viewShard) rows(ctx context.Context, list []scored) ([]search.Found, error) {
	ids := make([]int64, len(list))
	for i, d := range list {
		ids[i] = d.id
	}
	out, err := getAll(ctx, s.v.cache.candidates, ids, s.readCandidates)
	for i := range out {
		out[i].Score = list[i].text
	}
	return out, err
}

// readCandidates reads what documents are sorted by.
func (s *viewShard) readCandidates(ctx context.Context, ids []int64, keep func(i int, c search.Found, size int)) error {
	rows, err := s.queryIDs(ctx, selectCandidates, ids)
	return eachRow(rows, err, func() error {
		var i int
		var c search.Found
		if err := rows.Scan(&i, &c.Rank, &c.URL, &c.Language, &c.Title); err != nil {
			return err
		}
		c.ID = ids[i]
		s.v.names.Prepare(&c)
		keep(i, c, cacheEntry+len(c.URL)+len(c.Language)+len(c.Title))
		return nil
	})
}

// queryIDs runs a query whose first parameter is a list of row ids, as JSON.
func (s *viewShard) queryIDs(ctx context.Context, text string, ids []int64, more ...any) (*sql.Rows, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	return s.v.query(ctx, text, append([]any{string(list)}, more...)...)
}

const selectNamed = "SELECT j.key, d.anchors, d.headings FROM json_each(?) j CROSS JOIN docs d ON d.id=j.value"

// Matches compares the words of the query with the anchors and headings of documents.
func (s *viewShard) Matches(ctx context.Context, q *search.AnchorsQuestion) ([]float64, error) {
	named, err := getAll(ctx, s.v.cache.naming, q.IDs, s.readNamed)
	matches := make([]float64, len(named))
	for i := range named {
		matches[i] = named[i].match(q.Words)
	}
	return matches, err
}

// readNamed reads the anchors and headings of documents.
func (s *viewShard) readNamed(ctx context.Context, ids []int64, keep func(i int, d naming, size int)) error {
	list, err := getAll(ctx, s.v.cache.candidates, ids, s.readCandidates) // for their languages
	if err != nil {
		return err
	}
	rows, err := s.queryIDs(ctx, selectNamed, ids)
	return eachRow(rows, err, func() error {
		var i int
		var anchors, headings string
		if err := rows.Scan(&i, &anchors, &headings); err != nil {
			return err
		}
		d, err := s.v.anchors.naming(anchors, headings, list[i].Language)
		if err == nil {
			keep(i, d, cacheEntry+len(anchors)+len(headings))
		}
		return err
	})
}

const selectHits = `SELECT ` + rowColumns + `, d.outline, d.head, d.rest IS NOT NULL, t.fetched, t.indexed, j.key
	FROM json_each(?) j CROSS JOIN docs d ON d.id=j.value CROSS JOIN times t ON t.id=d.id`

// Hits returns what a result page shows of documents, as far as a shard knows it.
func (s *viewShard) Hits(ctx context.Context, q *search.HitsQuestion) ([]search.Hit, error) {
	c, err := q.Compiled()
	if err != nil {
		return nil, err
	}
	list, n := make([]search.Hit, len(q.IDs)), 0
	rows, err := s.queryIDs(ctx, selectHits, q.IDs)
	err = eachRow(rows, err, func() error {
		var row storedRow
		var outline, head sql.RawBytes // valid until the next row
		var more bool
		var fetched, indexed int64
		var i int
		if err := row.scan(rows.Scan, &outline, &head, &more, &fetched, &indexed, &i); err != nil {
			return err
		}
		h := search.Hit{URL: page.URL(row.url), Title: string(row.title), Language: string(row.language), Inlinks: int(row.inlinks)}
		h.FetchedAt, h.IndexedAt = unpackTime(fetched), unpackTime(indexed)
		repeats, err := s.v.repeats(ctx, search.HostOf(h.URL))
		if err != nil {
			return err
		}
		if h.Duplicates, err = duplicates(row.members, h.URL); err == nil {
			err = showText(&h, outline, head, more, c, repeats.has)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", h.URL, err)
		}
		list[i] = h
		n++
		return nil
	})
	if err == nil && n != len(q.IDs) {
		err = fmt.Errorf("%w: %d documents are missing", ErrCorrupt, len(q.IDs)-n)
	}
	return list, err
}

// Columns scores documents with other weights.
func (s *viewShard) Columns(ctx context.Context, q *search.ColumnsQuestion) ([][]float64, error) {
	x, err := s.text(ctx)
	if err != nil {
		return nil, err
	}
	weights := make([]columnWeights, len(q.Weights))
	for i := range weights {
		weights[i] = weightsOf(&q.Weights[i])
	}
	return x.scores(ctx, q.Expr, q.Statistics, q.IDs, weights...)
}

// Near lists the words nearest to a folded word, without that word.
func (s *viewShard) Near(ctx context.Context, q *search.NearQuestion) (list []search.NearWord, err error) {
	words, err := s.v.words(ctx)
	if err != nil {
		return nil, err
	}
	words.Near(q.Word, q.Most, func(word string, distance int) {
		list = append(list, search.NearWord{Word: word, Distance: distance})
	})
	return search.Nearest(list), nil
}

// Tags counts documents by site and by language. It reads about ten bytes per document.
func (s *viewShard) Tags(ctx context.Context) (t search.Tags, err error) {
	x, err := s.text(ctx)
	if err != nil {
		return t, err
	}
	count := func(kind rune) (map[string]int, error) {
		counts, err := x.index.Counts(ctx, analysis.Tag(kind, ""))
		if err != nil {
			return nil, damaged(err)
		}
		named := make(map[string]int, len(counts))
		for token, n := range counts {
			named[analysis.TagValue(token)] = n
		}
		return named, nil
	}
	if t.Sites, err = count(analysis.TagSite); err != nil {
		return t, err
	}
	t.Languages, err = count(analysis.TagLang)
	return t, err
}
