package opensearch

import (
	"context"
	"errors"
	"slices"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/page"
)

// sketchFields is what is read of every document to find similar ones. The server knows
// nothing of sketches, nor of URLs, so it lists all documents.
var sketchFields = []string{"cluster", "seq", "rank", "fetched", "touch", "stored.url", "stored.title", "stored.language", "stored.members", "stored.sketch"}

// similar answers a question for one document, or for those that are similar to one.
func (s *session) similar(ctx context.Context, q *index.SimilarQuestion) (a index.SimilarAnswer, err error) {
	of := sketch.Of(q.Sketch)
	if q.Of == "" && of == nil {
		return a, errors.New("a question for similar documents has no sketch")
	}
	v, err := (&Index{c: s.c}).Snapshot(ctx)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	err = v.pages(ctx, pageSize, sketchFields, func(list []*record) (more bool, err error) {
		for _, r := range list {
			d := r.Stored
			if d == nil {
				continue
			}
			if q.Of != "" {
				if a.Document, err = better(a.Document, d, q.Of); err != nil {
					return false, err
				}
				continue
			}
			if k := sketch.Of(d.Sketch); k != nil && d.URL != q.Except && sketch.Similar(of, k, q.Threshold) {
				a.Total++
				a.Pages = append(a.Pages, index.SimilarPage{URL: d.URL, Title: d.Title, Language: d.Language, Similarity: sketch.Similarity(of, k)})
			}
		}
		if len(a.Pages) > 10*index.MaxResults {
			a.Pages = index.SortSimilar(a.Pages, q.N)
		}
		return a.Document == nil || a.Document.URL != q.Of, nil
	})
	a.Pages = index.SortSimilar(a.Pages, q.N)
	return a, err
}

// better is the document that has a URL: the one whose canonical URL it is, or else one that
// has it among its members.
func better(have *index.SketchedDocument, d *stored, u page.URL) (*index.SketchedDocument, error) {
	if d.URL != u {
		members, _, err := index.ReadLists(d.Members, "[]")
		if err != nil || have != nil && have.URL <= d.URL || !slices.Contains(members, u) {
			return have, err
		}
	}
	return &index.SketchedDocument{URL: d.URL, Title: d.Title, Sketch: d.Sketch}, nil
}
