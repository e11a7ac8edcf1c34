package opensearch

import (
	"context"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
)

// Typed looks for words in the texts of documents, as index files do: first in the heads of all
// texts and then, where words are missing, in the rests of those that are not too long. So most
// searches send only one request for this.
func (s *session) Typed(ctx context.Context, q *search.TypedQuestion) ([]search.Typed, error) {
	list, err := s.of(q.IDs)
	if err != nil {
		return nil, err
	}
	looking := make(map[string]*search.TypedWords, len(list)) // by cluster
	for _, c := range list {
		looking[c.Cluster] = q.Look(c.Tokens)
	}
	heads, err := s.stored(ctx, clustersOf(list), "stored.head", "stored.more")
	if err != nil {
		return nil, err
	}
	var longer []string
	for _, c := range list {
		now := heads[c.Cluster]
		if now == nil || now.Stored == nil {
			continue // it has just been removed
		}
		text, err := index.UnpackText(now.Stored.Head)
		if err != nil {
			return nil, err
		}
		if looking[c.Cluster].InHead(c.about.Title, string(c.about.URL), c.about.Anchors, text, now.Stored.More) {
			longer = append(longer, c.Cluster)
		}
	}
	if len(longer) > 0 {
		rests, err := s.stored(ctx, longer, "stored.rest")
		if err != nil {
			return nil, err
		}
		for cluster, now := range rests {
			if now.Stored == nil || len(now.Stored.Rest) > search.MostRest {
				continue
			}
			text, err := index.UnpackText(now.Stored.Rest)
			if err != nil {
				return nil, err
			}
			looking[cluster].InRest(text)
		}
	}
	out := make([]search.Typed, len(list))
	for i, c := range list {
		out[i] = looking[c.Cluster].Typed()
	}
	return out, nil
}

// stored reads parts of the stored content of documents, by cluster.
func (s *session) stored(ctx context.Context, clusters []string, parts ...string) (map[string]*record, error) {
	return s.current(ctx, clusters, readingSource([]string{"cluster"}, object{"includes": parts}, object{}))
}

func clustersOf(list []*candidate) []string {
	ids := make([]string, len(list))
	for i, c := range list {
		ids[i] = c.Cluster
	}
	return ids
}
