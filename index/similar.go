package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/page"
)

// Similar answers a SimilarQuestion.
func (s *viewShard) Similar(ctx context.Context, q *search.SimilarQuestion) (a search.SimilarAnswer, err error) {
	if q.Of != "" {
		a.Document, err = s.sketchedDocument(ctx, q.Of)
		return a, err
	}
	of := sketch.Of(q.Sketch)
	if of == nil {
		return a, fmt.Errorf("a question with a sketch of %d bytes", len(q.Sketch))
	}
	var except int64
	if err := s.v.tx.QueryRowContext(ctx, "SELECT id FROM docs WHERE url=?", string(q.Except)).Scan(&except); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return a, err
	}
	list, err := s.allSimilar(ctx, of, q.Threshold, except)
	if err != nil {
		return a, err
	}
	a.Total = len(list)
	slices.SortFunc(list, better)
	n := min(q.N, len(list))
	for n > 0 && n < min(len(list), q.N+mostTied) && list[n].text == list[n-1].text { // their URLs decide
		n++
	}
	found, err := s.rows(ctx, list[:n])
	if err != nil {
		return a, err
	}
	for _, d := range found {
		a.Pages = append(a.Pages, search.SimilarPage{URL: d.URL, Title: d.Title, Language: d.Language, Similarity: d.Score})
	}
	a.Pages = search.SortSimilar(a.Pages, q.N)
	return a, nil
}

// allSimilar compares a sketch with those of all documents but one.
func (s *viewShard) allSimilar(ctx context.Context, of *sketch.Sketch, least float64, except int64) (list []scored, err error) {
	rows, err := s.v.tx.QueryContext(ctx, "SELECT id, sketch FROM sketches")
	err = eachRow(rows, err, func() error {
		var id int64
		var stored sql.RawBytes
		if err := rows.Scan(&id, &stored); err != nil {
			return err
		}
		other := sketch.Of(stored)
		if other == nil {
			return fmt.Errorf("%w: a sketch of %d bytes", ErrCorrupt, len(stored))
		}
		if id != except && sketch.Similar(of, other, least) {
			list = append(list, scored{id, sketch.Similarity(of, other)})
		}
		return nil
	})
	return list, err
}

const selectSketched = "SELECT d.url, d.title, s.sketch FROM docs d JOIN sketches s ON s.id=d.id WHERE "

// sketchedDocument returns the document with a URL, or else one that has the URL among its
// members, or nil if there is none. It searches the members of one document after the other.
func (s *viewShard) sketchedDocument(ctx context.Context, u page.URL) (*search.SketchedDocument, error) {
	for _, where := range []string{"d.url=?", "EXISTS(SELECT 1 FROM json_each(d.members) m WHERE m.value=?) ORDER BY d.url LIMIT 1"} {
		d := new(search.SketchedDocument)
		err := s.v.tx.QueryRowContext(ctx, selectSketched+where, string(u)).Scan(&d.URL, &d.Title, &d.Sketch)
		if !errors.Is(err, sql.ErrNoRows) {
			return d, err
		}
	}
	return nil, nil
}
