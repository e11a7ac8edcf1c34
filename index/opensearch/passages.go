package opensearch

import (
	"context"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
)

// Passages looks into the heads of the texts of documents, as index files do, with one request.
func (s *session) Passages(ctx context.Context, q *search.PassagesQuestion) ([]float64, error) {
	list, err := s.of(q.IDs)
	if err != nil {
		return nil, err
	}
	heads, err := s.stored(ctx, clustersOf(list), "stored.head")
	if err != nil {
		return nil, err
	}
	counts := make([]float64, len(list))
	for i, c := range list {
		now := heads[c.Cluster]
		if now == nil || now.Stored == nil {
			continue // it has just been removed
		}
		text, err := index.UnpackText(now.Stored.Head)
		if err != nil {
			return nil, err
		}
		counts[i] = q.Count(c.about.Title, text)
	}
	return counts, nil
}
