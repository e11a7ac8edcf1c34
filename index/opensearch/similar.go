package opensearch

import (
	"context"
	"errors"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/page"
)

// Similar answers a question for one document, or for the documents that are similar to one.
func (s *session) Similar(ctx context.Context, q *search.SimilarQuestion) (a search.SimilarAnswer, err error) {
	if q.Of != "" {
		a.Document, err = s.sketched(ctx, q.Of)
		return a, err
	}
	of := sketch.Of(q.Sketch)
	if of == nil {
		return a, errors.New("a question for similar documents has no sketch")
	}
	v, err := (&Index{c: s.c}).Snapshot(ctx)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	// The server knows nothing about sketches, so it lists those of all documents.
	err = v.scan(ctx, pageSize, byCluster, []string{"cluster", "content", "sketch"}, nil, func(list []*record) (more bool, err error) {
		for _, r := range list {
			k := sketch.Of(r.Sketch)
			if k == nil || !sketch.Similar(of, k, q.Threshold) {
				continue
			}
			d, err := r.readAbout()
			if err != nil {
				return false, err
			}
			if d.URL != q.Except {
				a.Total++
				a.Pages = append(a.Pages, search.SimilarPage{URL: d.URL, Title: d.Title, Language: d.Language, Similarity: sketch.Similarity(of, k)})
			}
		}
		if len(a.Pages) > 10*search.MaxResults {
			a.Pages = search.SortSimilar(a.Pages, q.N)
		}
		return true, nil
	})
	a.Pages = search.SortSimilar(a.Pages, q.N)
	return a, err
}

// mostHolders bounds the documents that have one URL. There is one, or for a moment two.
const mostHolders = 100

// sketched returns the document whose canonical URL is u, or else the first document, by
// URL, that has u among its members, or nil if there is none.
func (s *session) sketched(ctx context.Context, u page.URL) (found *search.SketchedDocument, err error) {
	holds := object{"term": object{"urls": urlKey(u)}}
	a, err := s.c.search(ctx, reading([]string{"cluster", "content", "sketch"}, object{"size": mostHolders, "query": kept(documents, holds)}))
	if err != nil {
		return nil, err
	}
	for i := range a.Hits.Hits {
		r := &a.Hits.Hits[i].Source
		d, err := r.readAbout()
		if err != nil {
			return nil, err
		}
		if found == nil || found.URL != u && (d.URL == u || d.URL < found.URL) {
			found = &search.SketchedDocument{URL: d.URL, Title: d.Title, Sketch: r.Sketch}
		}
	}
	return found, nil
}
