package index

import (
	"context"
	"encoding/json"

	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
)

// selectSorted gives the documents of a list, or all, in an order that has nothing to do with
// words. Equal documents are ordered by URL. Because the rows of docs are large, the URL is read
// only for documents that may be among the first.
func selectSorted(q *search.SortedQuestion) string {
	from, by, fetched := "times", "rank", "0"
	if q.Expr != nil {
		from = "(SELECT value AS id FROM json_each(?1))"
	}
	if q.ByDate {
		by, fetched = "fetched", "(SELECT fetched FROM times WHERE id=x.id)"
	}
	return "WITH m AS MATERIALIZED (SELECT x.id, r.rank, " + fetched + " AS fetched FROM " + from + ` x
		CROSS JOIN ranks r ON r.id=x.id WHERE true` + fetchedIn(q.Fetched, "x.id") + `)
		SELECT r.id, r.rank, r.fetched, ` + candidateColumns + ` FROM m r CROSS JOIN docs d ON d.id=r.id
		WHERE r.` + by + " >= ifnull((SELECT " + by + " FROM m ORDER BY " + by + ` DESC LIMIT 1 OFFSET ?2-1), r.` + by + `)
		ORDER BY r.` + by + " DESC, d.url LIMIT ?2"
}

// selectProminent gives the documents of a list with the greatest ranks.
var selectProminent = selectSorted(&search.SortedQuestion{Matching: search.Matching{Expr: &query.Expr{}}})

// Sorted returns matches in an order that has nothing to do with words. Their score is
// the rank. If the expression is nil, all documents match.
func (s *viewShard) Sorted(ctx context.Context, q *search.SortedQuestion) ([]search.Found, error) {
	if q.Expr == nil {
		return s.scan(ctx, selectSorted(q), "", q.N)
	}
	x, err := s.text(ctx)
	if err != nil {
		return nil, err
	}
	ids, err := x.matching(ctx, q.Expr) // SQLite would read the lists of the words again
	if err != nil {
		return nil, err
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	return s.scan(ctx, selectSorted(q), string(list), q.N)
}

func (s *viewShard) scan(ctx context.Context, text string, args ...any) (list []search.Found, err error) {
	rows, err := s.v.query(ctx, text, args...)
	err = eachRow(rows, err, func() error {
		var c search.Found
		err := rows.Scan(&c.ID, &c.Score, &c.Fetched, &c.Rank, &c.URL, &c.Language, &c.Title)
		list = append(list, c)
		return err
	})
	return list, err
}
