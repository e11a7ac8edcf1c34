package relevancebench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/opensearch"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// Server is an index on an OpenSearch server. Its documents are copied into index files, and
// both are asked the same queries.
type Server struct {
	Address opensearch.Address
	Options opensearch.Options
}

// searcher is an index that answers queries.
type searcher interface {
	Search(ctx context.Context, query string, opts search.Options) (*search.Results, error)
}

// documents lists what is in an index.
type documents interface {
	Documents(ctx context.Context, fn func(index.Document) error) error
}

// copyTo copies the documents into new index files.
func (s *Server) copyTo(ctx context.Context, dir string) (err error) {
	x, err := opensearch.Open(s.Address, s.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	v, err := x.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	w, err := index.OpenWriter(ctx, dir, index.WriterOptions{})
	if err != nil {
		return err
	}
	return errors.Join(fillCopy(ctx, v, w.Apply, func(*index.Document) {}), w.Close())
}

// served is an index on the server, opened for queries.
type served struct {
	*search.Shards
	shard *opensearch.Shard
	copy  *opensearch.Index // made by the bench, which removes it; nil for the index itself
}

func (s *Server) open(ctx context.Context) (*served, error) {
	return openServed(ctx, s.Address, s.Options)
}

func openServed(ctx context.Context, a opensearch.Address, o opensearch.Options) (*served, error) {
	shard, err := opensearch.OpenShard(a, o)
	if err != nil {
		return nil, err
	}
	if _, err := shard.Prepare(ctx); err != nil {
		return nil, errors.Join(err, shard.Close())
	}
	return &served{Shards: search.NewShards([]search.ShardSource{shard}), shard: shard}, nil
}

// copyOf makes a second index on the server with these documents, under a unique name.
func (s *Server) copyOf(ctx context.Context, from documents) (*served, error) {
	id := fmt.Sprintf("relevance-%d", time.Now().UnixNano())
	a := s.Address.Beside(id)
	x, err := opensearch.Open(a, s.Options)
	if err != nil {
		return nil, err
	}
	next, err := x.Begin(ctx, id)
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	if err = fillCopy(ctx, from, next.Apply, func(*index.Document) {}); err == nil {
		err = next.Install(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, next.Discard(context.WithoutCancel(ctx)), x.Close())
	}
	out, err := openServed(ctx, a, s.Options)
	if err != nil {
		return nil, errors.Join(err, x.Remove(context.WithoutCancel(ctx)), x.Close())
	}
	out.copy = x
	return out, nil
}

// requests is how many the server was sent; 0 for no server.
func (s *served) requests() int64 {
	if s == nil {
		return 0
	}
	return s.shard.Requests()
}

func (s *served) close(ctx context.Context) error {
	err := s.shard.Close()
	if s.copy != nil {
		err = errors.Join(err, s.copy.Remove(context.WithoutCancel(ctx)), s.copy.Close())
	}
	return err
}

// Agreement compares the answers of a search server with those of index files that have the
// same documents.
type Agreement struct {
	Queries   int     `json:"queries"`
	SameFirst int     `json:"same_first"` // the same first hit
	SameTen   int     `json:"same_ten"`   // the same first ten hits, in the same order
	Shared    float64 `json:"shared"`     // share of the files' first ten hits that the server has among its own
	FilesMS   float64 `json:"files_ms"`   // mean time of a query
	ServerMS  float64 `json:"server_ms"`
	Requests  float64 `json:"requests"` // to the server, for a query
	// Differing are some of the queries with another first hit.
	Differing []Difference `json:"differing,omitempty"`
}

// Difference is a query whose first hits differ.
type Difference struct {
	Query  string `json:"query"`
	Files  string `json:"files"`
	Server string `json:"server"`
}

// answers is what a searcher answered.
type answers struct {
	searcher
	mu   sync.Mutex
	hits map[string][]page.URL // first ten, by query
	took time.Duration
}

func record(s searcher) *answers { return &answers{searcher: s, hits: make(map[string][]page.URL)} }

// Search implements searcher.
func (a *answers) Search(ctx context.Context, query string, opts search.Options) (*search.Results, error) {
	begun := time.Now()
	res, err := a.searcher.Search(ctx, query, opts)
	took := time.Since(begun)
	if err != nil {
		return nil, err
	}
	urls := make([]page.URL, 0, len(res.Hits))
	for _, h := range res.Hits {
		urls = append(urls, h.URL)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hits[query] = urls
	a.took += took
	return res, nil
}

// compared compares what two answered to the same queries. requests is how many the server
// was sent.
func compared(files, server *answers, requests int64) *Agreement {
	a := &Agreement{Queries: len(files.hits)}
	shared, all := 0, 0
	for _, query := range slices.Sorted(maps.Keys(files.hits)) {
		ours := files.hits[query]
		theirs := server.hits[query]
		if slices.Equal(ours, theirs) {
			a.SameTen++
		}
		for _, u := range ours {
			all++
			if slices.Contains(theirs, u) {
				shared++
			}
		}
		f, s := firstOf(ours), firstOf(theirs)
		if f == s {
			a.SameFirst++
		} else if len(a.Differing) < maxMissed {
			a.Differing = append(a.Differing, Difference{query, f, s})
		}
	}
	n := float64(max(a.Queries, 1))
	a.Shared = float64(shared) / float64(max(all, 1))
	a.FilesMS, a.ServerMS = 1000*files.took.Seconds()/n, 1000*server.took.Seconds()/n
	a.Requests = float64(requests) / n
	return a
}

func firstOf(urls []page.URL) string {
	if len(urls) == 0 {
		return ""
	}
	return string(urls[0])
}
