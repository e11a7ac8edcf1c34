package opensearch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/page"
)

// candidate is a document that a search has examined.
type candidate struct {
	record
	*content
}

// content is what is read of a document to sort it. It must not change.
type content struct {
	about  *about
	texts  index.ColumnTexts
	sketch []byte
	sample string
}

// Our code scores the firstLook documents that the server finds most promising. Their number
// does not depend on the requested page, so the pages of a result agree. If no more
// documents match, the result is exactly that of index files.
const firstLook = 300

// Best scores the candidates that the server proposes. If the question asks for more than
// firstLook documents, those that the server finds less promising follow the others in its order, so
// that a longer list begins with a shorter one.
func (s *session) Best(ctx context.Context, q *search.BestQuestion) ([]search.Found, int, error) {
	filter, err := s.fetched(ctx, q.Fetched)
	if err != nil {
		return nil, 0, err
	}
	if filter = append(filter, documents); q.URLs != nil {
		keys := make([]string, len(q.URLs))
		for i, u := range q.URLs {
			keys[i] = urlKey(page.URL(u))
		}
		filter = append(filter, object{"terms": object{"urls": keys}})
	}
	a, err := s.c.byScore(ctx, reading(rowFields, object{
		"size": max(firstLook, q.N), "track_total_hits": true,
		"query": promising(q.Expr, filter),
	}))
	if err != nil {
		return nil, 0, err
	}
	hits := a.Hits.Hits
	first, err := s.scored(ctx, hits[:min(firstLook, len(hits))], q)
	if err != nil {
		return nil, 0, err
	}
	rest, err := s.scored(ctx, hits[min(firstLook, len(hits)):], q)
	if err != nil {
		return nil, 0, err
	}
	slices.SortFunc(first, search.BetterFound)
	found := append(first, rest...)
	for i := max(len(first), 1); i < len(found); i++ {
		found[i].Score = min(found[i].Score, found[i-1].Score)
	}
	if q.URLs != nil { // the server searches all URLs of a document
		found = slices.DeleteFunc(found, func(f search.Found) bool { return !slices.Contains(q.URLs, string(f.URL)) })
	}
	return found[:min(q.N, len(found))], a.Hits.Total.Value, nil
}

func (s *session) scored(ctx context.Context, hits []searchHit, q *search.BestQuestion) ([]search.Found, error) {
	list, err := s.read(ctx, hits)
	if err != nil {
		return nil, err
	}
	found := make([]search.Found, 0, len(list))
	for _, c := range list {
		scores, err := index.ScoreTexts(q.Expr, q.Statistics, c.Tokens, &c.texts, q.Weights)
		if err != nil {
			return nil, err
		}
		f := s.found(c)
		f.Score = scores[0]
		found = append(found, f)
	}
	return found, nil
}

// firstOf sorts by rank or time, and scores by rank, as index files do without words.
func (s *session) firstOf(ctx context.Context, hits []searchHit, q *search.SortedQuestion) ([]search.Found, error) {
	seen := make(map[string]bool)
	hits = slices.DeleteFunc(hits, func(h searchHit) bool {
		again := seen[h.Source.Cluster]
		seen[h.Source.Cluster] = true
		return again
	})
	records := make([]*record, len(hits))
	for i := range hits {
		records[i] = &hits[i].Source
	}
	if err := join(ctx, s.c.search, records); err != nil {
		return nil, err
	}
	for _, r := range records {
		s.ranks[r.Cluster] = record{} // r has it
	}
	slices.SortStableFunc(hits, func(a, b searchHit) int {
		if q.ByDate {
			return cmp.Compare(b.Source.Fetched, a.Source.Fetched)
		}
		return cmp.Compare(b.Source.Rank, a.Source.Rank)
	})
	list, err := s.read(ctx, withTied(hits, q))
	if err != nil {
		return nil, err
	}
	found := make([]search.Found, len(list))
	for i, c := range list {
		found[i] = s.found(c)
		found[i].Score, found[i].Fetched = found[i].Rank, c.Fetched
	}
	slices.SortFunc(found, func(a, b search.Found) int {
		if q.ByDate {
			return cmp.Or(cmp.Compare(b.Fetched, a.Fetched), cmp.Compare(a.URL, b.URL))
		}
		return search.BetterFound(a, b)
	})
	return found[:min(q.N, len(found))], nil
}

// withTied returns the first n hits, and the hits after them that are tied with the last
// one: their URLs decide the order.
func withTied(hits []searchHit, q *search.SortedQuestion) []searchHit {
	n := min(q.N, len(hits))
	for n > 0 && n < len(hits) {
		last, next := &hits[n-1].Source, &hits[n].Source
		if q.ByDate && next.Fetched != last.Fetched || !q.ByDate && next.Rank != last.Rank {
			break
		}
		n++
	}
	return hits[:n]
}

// found returns a candidate as the search sees it.
func (s *session) found(c *candidate) search.Found {
	id, known := s.ids[c.Cluster]
	if !known {
		id = int64(len(s.ids) + 1)
		s.ids[c.Cluster] = id
	}
	s.docs[id] = c
	rank := c.Rank
	if renewed := s.ranks[c.Cluster]; renewed.Seq > c.Seq {
		rank = renewed.Rank
	}
	return search.Found{ID: id, Rank: rank, URL: c.about.URL, Language: c.about.Language, Title: c.about.Title}
}

// readRanks reads the renewed ranks of documents that this search has not read before.
func (s *session) readRanks(ctx context.Context, list []*candidate) error {
	var ids []string
	for _, c := range list {
		if _, known := s.ranks[c.Cluster]; !known {
			ids = append(ids, rankID(c.Cluster))
			s.ranks[c.Cluster] = record{}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	o, err := overlayOf(ctx, s.c.search, ids)
	maps.Copy(s.ranks, o.ranks)
	return err
}

// read gives hits their contents, and reads their ranks at the same time. Of several documents
// of one URL, it keeps the newest (doc.go).
func (s *session) read(ctx context.Context, hits []searchHit) ([]*candidate, error) {
	list := make([]*candidate, 0, len(hits))
	var missing []*candidate
	for i := range hits {
		c := &candidate{record: hits[i].Source}
		if c.content, _ = s.cache.Get(c.contentKey()); c.content == nil {
			missing = append(missing, c)
		}
		list = append(list, c)
	}
	g, inner := errgroup.WithContext(ctx)
	for part := range slices.Chunk(missing, fetchedAtOnce) {
		g.Go(func() error { return s.fetch(inner, part) })
	}
	g.Go(func() error { return s.readRanks(inner, list) })
	if err := g.Wait(); err != nil {
		return nil, err
	}
	newest := make(map[string]*candidate)
	for _, c := range list {
		if c.content == nil {
			continue // it has just been removed
		}
		u := string(c.about.URL)
		if other := newest[u]; other == nil || other.Seq < c.Seq {
			newest[u] = c
		}
	}
	return slices.DeleteFunc(list, func(c *candidate) bool { return c.content == nil || newest[string(c.about.URL)] != c }), nil
}

// fetchedAtOnce is how many contents one request reads. The requests of a query run at the
// same time.
const fetchedAtOnce = 100

func (s *session) fetch(ctx context.Context, list []*candidate) error {
	now, err := s.current(ctx, clustersOf(list), reading(contentFields, object{}))
	if err != nil {
		return err
	}
	at := make(map[string]*candidate, len(list))
	for _, c := range list {
		at[c.Cluster] = c
	}
	for cluster, r := range now {
		c := at[cluster]
		if c.content, err = contentOf(r); err != nil {
			return err
		}
		if r.Seq != c.Seq { // it has just been replaced
			c.record = *r
		}
		s.cache.Add(c.contentKey(), c.content, c.size())
	}
	return nil
}

// current reads what body asks of the documents of clusters. It returns those that still exist.
func (s *session) current(ctx context.Context, clusters []string, body object) (map[string]*record, error) {
	body["size"], body["query"] = len(clusters), kept(documents, byID(clusters))
	a, err := s.c.search(ctx, body)
	if err != nil {
		return nil, err
	}
	now := make(map[string]*record, len(clusters))
	for i := range a.Hits.Hits {
		r := &a.Hits.Hits[i].Source
		if !slices.Contains(clusters, r.Cluster) {
			return nil, fmt.Errorf("%w: OpenSearch returned a document that was not requested: %s", index.ErrCorrupt, r.Cluster)
		}
		now[r.Cluster] = r
	}
	return now, nil
}

// contentOf unpacks the content of a document, which the record then lacks.
func contentOf(r *record) (c *content, err error) {
	c = &content{sketch: r.Sketch, sample: string(sketch.PackSample(r.Sample))}
	if c.about, err = r.readAbout(); err != nil {
		return nil, err
	}
	if c.texts, err = r.readTexts(); err != nil {
		return nil, err
	}
	r.Content, r.Columns, r.Sketch, r.Sample = nil, nil, nil, nil
	return c, nil
}

// of returns documents that this session has found before.
func (s *session) of(ids []int64) ([]*candidate, error) {
	list := make([]*candidate, len(ids))
	for i, id := range ids {
		if list[i] = s.docs[id]; list[i] == nil {
			return nil, fmt.Errorf("there is no document %d in this search", id)
		}
	}
	return list, nil
}

func (s *session) Matches(_ context.Context, q *search.AnchorsQuestion) (matches []float64, err error) {
	list, err := s.of(q.IDs)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		m, err := s.anchors.Match(c.about.Anchors, c.about.Headings, c.about.Language, q.Words)
		if err != nil {
			return nil, err
		}
		matches = append(matches, m)
	}
	return matches, nil
}

func (s *session) Sketches(_ context.Context, q *search.SketchesQuestion) ([]search.Sketched, error) {
	found, err := s.of(q.IDs)
	if err != nil {
		return nil, err
	}
	list := make([]search.Sketched, len(found))
	for i, c := range found {
		list[i] = search.Sketched{Sketch: c.sketch, Translations: c.about.Translations, Sample: c.sample}
	}
	return list, nil
}

func (s *session) Columns(_ context.Context, q *search.ColumnsQuestion) ([][]float64, error) {
	list, err := s.of(q.IDs)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(q.Weights))
	for _, c := range list {
		scores, err := index.ScoreTexts(q.Expr, q.Statistics, c.Tokens, &c.texts, q.Weights...)
		if err != nil {
			return nil, err
		}
		for i := range out {
			out[i] = append(out[i], scores[i])
		}
	}
	return out, nil
}
