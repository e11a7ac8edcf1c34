package opensearch

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// Hits reads what a result page shows of documents: their texts, the times of their last
// fetches, and what their sites repeat on many pages, all at the same time.
func (s *session) Hits(ctx context.Context, q *search.HitsQuestion) ([]search.Hit, error) {
	compiled, err := q.Compiled()
	if err != nil {
		return nil, err
	}
	list, err := s.of(q.IDs)
	if err != nil {
		return nil, err
	}
	var shown map[string]*record
	var times overlay
	var repeated map[string]index.Repeated
	g, inner := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		shown, err = s.shown(inner, list)
		return err
	})
	g.Go(func() (err error) {
		ids := make([]string, len(list))
		for i, c := range list {
			ids[i] = timeID(c.Touch)
		}
		times, err = overlayOf(inner, s.c.search, ids)
		return err
	})
	g.Go(func() (err error) {
		hosts := make([]string, len(list))
		for i, c := range list {
			hosts[i] = search.HostOf(c.about.URL)
		}
		repeated, err = s.repeats(inner, hosts)
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	hits := make([]search.Hit, len(list))
	for i, c := range list {
		now := shown[c.Cluster]
		if now != nil {
			times.apply(now)
		}
		if hits[i], err = c.hit(now, compiled, repeated[search.HostOf(c.about.URL)]); err != nil {
			return nil, err
		}
	}
	return hits, nil
}

// shown reads what hits show, by cluster.
func (s *session) shown(ctx context.Context, list []*candidate) (map[string]*record, error) {
	source := object{"includes": []string{"stored"}, "excludes": []string{"stored.rest"}}
	return s.current(ctx, clustersOf(list), readingSource([]string{"cluster", "seq", "fetched", "touch", "content"}, source, object{}))
}

// hit returns a document as it was found, with what it shows now, or nil if it was removed
// meanwhile.
func (c *candidate) hit(now *record, compiled *query.Query, repeated index.Repeated) (h search.Hit, err error) {
	h = search.Hit{URL: c.about.URL, Title: c.about.Title, Language: c.about.Language, FetchedAt: index.UnpackTime(c.Fetched), Duplicates: []page.URL{}}
	if now == nil || now.Stored == nil {
		return h, nil
	}
	a, err := now.readAbout()
	if err != nil || a.URL != h.URL {
		return h, err
	}
	d := now.Stored
	h.Title, h.Language, h.Inlinks, h.FetchedAt = a.Title, a.Language, d.Inlinks, index.UnpackTime(now.Fetched)
	if err := index.ShowText(&h, d.Outline, d.Head, d.More, compiled, repeated); err != nil {
		return h, err
	}
	return h, index.ShowMembers(&h, d.Members)
}
