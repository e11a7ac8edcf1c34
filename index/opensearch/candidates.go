package opensearch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/query"
)

// candidate is a document that a search has looked at.
type candidate struct {
	record
	*content
}

// content is what is read of a document to sort it. It must not be changed.
type content struct {
	stored *stored // without text
	texts  index.ColumnTexts
}

// firstLook is how many of the documents that the server finds promising our code scores. It
// does not depend on the page that is asked for, so the pages of a result agree. Up to that
// many documents, the result is exactly that of index files.
const firstLook = 300

// rowFields is what is read of every document that matches.
var rowFields = []string{"cluster", "seq", "rank", "fetched", "touch", "tokens"}

// contentFields is what is read of candidates in addition.
var contentFields = []string{"cluster", "seq", "rank", "fetched", "touch", "tokens", "stored.url", "stored.title", "stored.language", "stored.anchors", "stored.columns", "stored.sketch", "stored.translations"}

// best scores the candidates that the server proposes. If more than firstLook documents are
// asked for, those that the server finds less promising follow behind the others.
func (s *session) best(ctx context.Context, q *index.BestQuestion) ([]index.Found, int, error) {
	period, err := s.fetched(ctx, q.Fetched)
	if err != nil {
		return nil, 0, err
	}
	a, err := s.c.search(ctx, object{
		"size": max(firstLook, q.N), "track_total_hits": true, "_source": rowFields,
		"query": promising(q.Expr, append(period, documents)),
	})
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
	for i := range rest {
		rest[i].Score = min(rest[i].Score, first[len(first)-1].Score)
	}
	found := append(first, rest...)
	found = found[:min(q.N, len(found))]
	return found, a.Hits.Total.Value, s.withRanks(ctx, found)
}

func (s *session) scored(ctx context.Context, hits []searchHit, q *index.BestQuestion) ([]index.Found, error) {
	list, err := s.read(ctx, hits)
	if err != nil {
		return nil, err
	}
	found := make([]index.Found, 0, len(list))
	for _, c := range list {
		scores, err := index.ScoreTexts(q.Expr, q.Statistics, c.Tokens, &c.texts, q.Weights)
		if err != nil {
			return nil, err
		}
		f := s.found(c)
		f.Score = scores[0]
		found = append(found, f)
	}
	slices.SortFunc(found, index.BetterFound)
	return found, nil
}

// firstOf sorts by rank or time, and scores by rank, as index files do without words.
func (s *session) firstOf(ctx context.Context, hits []searchHit, q *index.SortedQuestion) ([]index.Found, error) {
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
	found := make([]index.Found, len(list))
	for i, c := range list {
		found[i] = s.found(c)
		found[i].Score, found[i].Fetched = c.Rank, c.Fetched
	}
	slices.SortFunc(found, func(a, b index.Found) int {
		if q.ByDate {
			return cmp.Or(cmp.Compare(b.Fetched, a.Fetched), cmp.Compare(a.URL, b.URL))
		}
		return index.BetterFound(a, b)
	})
	return found[:min(q.N, len(found))], nil
}

// withTied is the first n hits, and those after them that are in the same place of the order,
// which their URLs decide.
func withTied(hits []searchHit, q *index.SortedQuestion) []searchHit {
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

// found is a candidate as the search sees it.
func (s *session) found(c *candidate) index.Found {
	id, known := s.ids[c.Cluster]
	if !known {
		id = int64(len(s.ids) + 1)
		s.ids[c.Cluster] = id
	}
	s.docs[id] = c
	return index.Found{ID: id, Rank: c.Rank, URL: c.stored.URL, Language: c.stored.Language, Title: c.stored.Title}
}

// withRanks gives documents the ranks that count now.
func (s *session) withRanks(ctx context.Context, list []index.Found) error {
	records := make([]*record, len(list))
	for i := range list {
		r := s.docs[list[i].ID].record // a copy
		records[i] = &r
	}
	if err := join(ctx, s.c.search, records); err != nil {
		return err
	}
	for i := range list {
		list[i].Rank = records[i].Rank
	}
	return nil
}

// read gives hits their contents. Of several documents of one URL the newest one stays
// (doc.go).
func (s *session) read(ctx context.Context, hits []searchHit) ([]*candidate, error) {
	list := make([]*candidate, 0, len(hits))
	var missing []*candidate
	for i := range hits {
		c := &candidate{record: hits[i].Source}
		if c.content = s.cache.get(&c.record); c.content == nil {
			missing = append(missing, c)
		}
		list = append(list, c)
	}
	if err := s.fetch(ctx, missing); err != nil {
		return nil, err
	}
	newest := make(map[string]*candidate)
	for _, c := range list {
		if c.content == nil {
			continue // it was removed just now
		}
		u := string(c.stored.URL)
		if other := newest[u]; other == nil || other.Seq < c.Seq {
			newest[u] = c
		}
	}
	return slices.DeleteFunc(list, func(c *candidate) bool { return c.content == nil || newest[string(c.stored.URL)] != c }), nil
}

// fetchedAtOnce is how many contents one request reads.
const fetchedAtOnce = 100

func (s *session) fetch(ctx context.Context, list []*candidate) error {
	for part := range slices.Chunk(list, fetchedAtOnce) {
		at := make(map[string]*candidate, len(part))
		ids := make([]string, len(part))
		for i, c := range part {
			at[c.Cluster], ids[i] = c, c.Cluster
		}
		a, err := s.c.search(ctx, object{"size": len(ids), "query": kept(documents, byID(ids)), "_source": contentFields})
		if err != nil {
			return err
		}
		for _, h := range a.Hits.Hits {
			c := at[h.Source.Cluster]
			if c == nil || h.Source.Stored == nil {
				return fmt.Errorf("%w: a document on OpenSearch has no content: %s", index.ErrCorrupt, h.ID)
			}
			texts, err := h.Source.Stored.texts()
			if err != nil {
				return err
			}
			c.content = &content{h.Source.Stored, texts}
			if h.Source.Seq != c.Seq { // it was replaced just now
				c.record = h.Source
				c.record.Stored = nil
			}
			s.cache.add(&c.record, c.content)
		}
	}
	return nil
}

// of is a document that was found before.
func (s *session) of(id int64) (*candidate, error) {
	if c := s.docs[id]; c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("there is no document %d in this search", id)
}

func (s *session) matchAnchors(q *index.AnchorsQuestion) (matches []float64, err error) {
	for _, id := range q.IDs {
		c, err := s.of(id)
		if err != nil {
			return nil, err
		}
		m, err := s.anchors.Match(c.stored.Anchors, c.stored.Language, q.Words)
		if err != nil {
			return nil, err
		}
		matches = append(matches, m)
	}
	return matches, nil
}

func (s *session) sketches(q *index.SketchesQuestion) ([]index.Sketched, error) {
	list := make([]index.Sketched, len(q.IDs))
	for i, id := range q.IDs {
		c, err := s.of(id)
		if err != nil {
			return nil, err
		}
		list[i] = index.Sketched{Sketch: c.stored.Sketch, Translations: c.stored.Translations}
	}
	return list, nil
}

func (s *session) columns(q *index.ColumnsQuestion) ([][]float64, error) {
	out := make([][]float64, len(q.Weights))
	for _, id := range q.IDs {
		c, err := s.of(id)
		if err != nil {
			return nil, err
		}
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

// hits reads what is shown of documents.
func (s *session) hits(ctx context.Context, q *index.HitsQuestion) ([]index.Hit, error) {
	compiled, err := q.Compiled()
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(q.IDs))
	for i, id := range q.IDs {
		c, err := s.of(id)
		if err != nil {
			return nil, err
		}
		ids[i] = c.Cluster
	}
	a, err := s.c.search(ctx, object{
		"size": len(ids), "query": kept(documents, byID(ids)),
		"_source": object{"includes": []string{"cluster", "seq", "fetched", "touch", "stored"}, "excludes": []string{"stored.rest", "stored.columns", "stored.sketch"}},
	})
	if err != nil {
		return nil, err
	}
	now := make(map[string]*record)
	var records []*record
	for i := range a.Hits.Hits {
		r := &a.Hits.Hits[i].Source
		now[r.Cluster], records = r, append(records, r)
	}
	if err := join(ctx, s.c.search, records); err != nil {
		return nil, err
	}
	hits := make([]index.Hit, len(ids))
	for i, id := range q.IDs {
		if hits[i], err = s.hit(s.docs[id], now[ids[i]], compiled); err != nil {
			return nil, err
		}
	}
	return hits, nil
}

// hit is a document as it was found, with what it shows now; nil if it was removed meanwhile.
func (s *session) hit(c *candidate, now *record, compiled *query.Query) (index.Hit, error) {
	h := index.Hit{URL: c.stored.URL, Title: c.stored.Title, Language: c.stored.Language, FetchedAt: index.UnpackTime(c.Fetched)}
	members := "[]"
	if now != nil && now.Stored != nil && now.Stored.URL == h.URL {
		d := now.Stored
		h.Title, h.Language, h.Inlinks, h.FetchedAt = d.Title, d.Language, d.Inlinks, index.UnpackTime(now.Fetched)
		members = d.Members
		if err := h.ShowText(d.Outline, d.Head, d.More, compiled); err != nil {
			return h, err
		}
	}
	return h, h.ShowMembers(members)
}

// contents is what was read of documents, by cluster and Seq. It begins anew when it is
// full.
type contents struct {
	mu   sync.Mutex
	have map[contentKey]*content
	size int
}

type contentKey struct {
	cluster string
	seq     uint64
}

// maxContents bounds the cache, in bytes.
const maxContents = 32 << 20

func (c *contents) get(r *record) *content {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.have[contentKey{r.Cluster, r.Seq}]
}

func (c *contents) add(r *record, what *content) {
	size := 500 + len(what.stored.Anchors) + len(what.stored.Sketch)
	what.stored.Columns = nil // unpacked
	for _, text := range what.texts {
		size += len(text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.have == nil || c.size+size > maxContents {
		c.have, c.size = make(map[contentKey]*content), 0
	}
	c.have[contentKey{r.Cluster, r.Seq}] = what
	c.size += size
}
