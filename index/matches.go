package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/webindexer/indexer/index/postings"
	"github.com/webindexer/indexer/index/query"
)

// textIndex evaluates expressions on one state of the index. It keeps the lists of phrases,
// so that a search reads each list once, and lives as long as the search.
type textIndex struct {
	v       *View
	index   *postings.Index
	found   map[phraseIn]*found
	matches map[string][]int64 // by expression
}

type phraseIn struct {
	query.Phrase
	in postings.Columns
}

// found is where a phrase is, in some columns.
type found struct {
	list *postings.List
	at   []int32 // indexes into the list; nil for all of it
	ids  []int64 // ascending
}

func (f *found) in(i int) int {
	if f.at == nil {
		return i
	}
	return int(f.at[i])
}

// text opens the full-text index.
func (v *View) text(ctx context.Context) (*textIndex, error) {
	x, err := postings.Open(ctx, fullTextTable, v.query)
	if err != nil {
		return nil, damaged(err)
	}
	return &textIndex{v: v, index: x, found: make(map[phraseIn]*found), matches: make(map[string][]int64)}, nil
}

// damaged turns damage of the full-text index into damage of the index.
func damaged(err error) error {
	if errors.Is(err, postings.ErrCorrupt) && !errors.Is(err, ErrCorrupt) {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return err
}

// matching returns the documents that match an expression, in ascending order. The caller
// must not change the list.
func (x *textIndex) matching(ctx context.Context, expr *query.Expr) ([]int64, error) {
	if expr == nil {
		return nil, errors.New("no full-text expression")
	}
	key := expr.String()
	if ids, known := x.matches[key]; known {
		return ids, nil
	}
	ids, err := x.ids(ctx, expr)
	if err == nil {
		x.matches[key] = ids
	}
	return ids, err
}

// dated returns the documents of matching that were fetched in a period.
func (x *textIndex) dated(ctx context.Context, expr *query.Expr, p query.Period) ([]int64, error) {
	ids, err := x.matching(ctx, expr)
	if err != nil || !p.Bounded() || len(ids) == 0 {
		return ids, err
	}
	key := expr.String() + fetchedIn(p, "")
	if known, ok := x.matches[key]; ok {
		return known, nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := x.v.query(ctx, "SELECT j.value FROM json_each(?) j WHERE true"+fetchedIn(p, "j.value")+" ORDER BY j.key", string(list))
	kept := []int64{}
	err = eachRow(rows, err, func() error {
		var id int64
		err := rows.Scan(&id)
		kept = append(kept, id)
		return err
	})
	if err == nil {
		x.matches[key] = kept
	}
	return kept, err
}

func (x *textIndex) ids(ctx context.Context, e *query.Expr) ([]int64, error) {
	if e.Op == query.OpPhrase {
		f, err := x.phrase(ctx, e)
		if err != nil {
			return nil, err
		}
		return f.ids, nil
	}
	lists := make([][]int64, len(e.Kids))
	for i, k := range e.Kids {
		var err error
		if lists[i], err = x.ids(ctx, k); err != nil {
			return nil, err
		}
		if len(lists[i]) == 0 && (e.Op == query.OpAnd || e.Op == query.OpNot && i == 0) {
			return nil, nil
		}
	}
	switch e.Op {
	case query.OpAnd:
		slices.SortFunc(lists, func(a, b []int64) int { return len(a) - len(b) })
		return fold(lists, intersect), nil
	case query.OpOr:
		return fold(lists, union), nil
	}
	return subtract(lists[0], lists[1]), nil
}

// phrase finds a phrase in the columns that count.
func (x *textIndex) phrase(ctx context.Context, e *query.Expr) (*found, error) {
	everywhere, err := x.everywhere(ctx, e.Phrase)
	if err != nil || e.In == postings.AllColumns {
		return everywhere, err
	}
	return x.keep(phraseIn{e.Phrase, e.In}, func() (*found, error) {
		list := everywhere.list
		f := &found{list: list, at: make([]int32, 0)}
		for i := range min(list.Len(), math.MaxInt32) {
			if list.In(i, e.In) {
				f.at, f.ids = append(f.at, int32(i)), append(f.ids, list.Rows()[i])
			}
		}
		return f, nil
	})
}

// everywhere finds a phrase in all columns. It keeps the list of each of its tokens as well:
// names like org.example.Name are phrases that share most of their tokens, and these are
// the tokens with the longest lists.
func (x *textIndex) everywhere(ctx context.Context, p query.Phrase) (*found, error) {
	return x.keep(phraseIn{p, postings.AllColumns}, func() (*found, error) {
		tokens := strings.Fields(p.Tokens)
		list, err := postings.Phrase(tokens, p.Prefix, func(token string, prefix bool) (*postings.List, error) {
			if len(tokens) == 1 {
				return x.index.Token(ctx, token, prefix)
			}
			f, err := x.everywhere(ctx, query.Phrase{Tokens: token, Prefix: prefix})
			if err != nil {
				return nil, err
			}
			return f.list, nil
		})
		if err != nil {
			return nil, damaged(err)
		}
		return &found{list: list, ids: list.Rows()}, nil
	})
}

// keep returns what this search or the cache has for key. If neither has it, keep calls
// make and stores the result in both.
func (x *textIndex) keep(key phraseIn, make func() (*found, error)) (*found, error) {
	if f := x.found[key]; f != nil {
		return f, nil
	}
	f, known := x.v.cache.found.Get(key)
	if !known {
		var err error
		if f, err = make(); err != nil {
			return nil, err
		}
		x.v.cache.addFound(key, f)
	}
	x.found[key] = f
	return f, nil
}

// Sets of row ids are ascending lists.

func fold(lists [][]int64, do func(a, b []int64) []int64) []int64 {
	out := lists[0]
	for _, l := range lists[1:] {
		out = do(out, l)
	}
	return out
}

// intersect returns the ids in both lists. It is faster if the shorter list comes first.
func intersect(a, b []int64) []int64 {
	out := make([]int64, 0, min(len(a), len(b)))
	for _, id := range a {
		n := postings.Seek(b, id)
		b = b[n:]
		if len(b) > 0 && b[0] == id {
			out = append(out, id)
		}
	}
	return out
}

func union(a, b []int64) []int64 {
	out := make([]int64, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case b[0] < a[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0]), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

func subtract(a, b []int64) []int64 {
	out := make([]int64, 0, len(a))
	for _, id := range a {
		b = b[postings.Seek(b, id):]
		if len(b) == 0 || b[0] != id {
			out = append(out, id)
		}
	}
	return out
}

// fetchedIn returns the SQL condition for documents with this row id in the period, with "
// AND" before it, or "" if the period has no bound. A document of unknown time is in no bounded
// period. The time is looked up for each match, because matches are fewer than documents.
func fetchedIn(p query.Period, rowid string) string {
	if !p.Bounded() {
		return ""
	}
	c := " AND (SELECT fetched<>0"
	if p.From != 0 {
		c += fmt.Sprintf(" AND fetched>=%d", p.From)
	}
	if p.Until != 0 {
		c += fmt.Sprintf(" AND fetched<%d", p.Until)
	}
	return c + " FROM times WHERE id=" + rowid + ")"
}
