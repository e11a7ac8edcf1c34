package webtest

import (
	"context"
	"sync"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/page"
)

// Sink holds index documents in memory, and obeys the rules of package index:
// for each cluster, the change with the highest Seq holds, and a document's time never
// goes back while the document stays.
type Sink struct {
	mu      sync.Mutex
	newest  map[page.ContentKey]index.Change
	ranks   map[page.ContentKey]index.RankUpdate // the newest of each, of documents that existed
	applied int
	moves   int
}

// NewSink returns an empty Sink.
func NewSink() *Sink {
	return &Sink{newest: make(map[page.ContentKey]index.Change), ranks: make(map[page.ContentKey]index.RankUpdate)}
}

// Apply implements observers.Sink.
func (s *Sink) Apply(ctx context.Context, changes []index.Change) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range changes {
		s.applied++
		if was := s.newest[c.Cluster].Doc; was != nil && c.Doc != nil && was.URL != c.Doc.URL {
			s.moves++
		}
		was := s.newest[c.Cluster]
		if c.Seq < was.Seq {
			continue
		}
		if was.Doc != nil && c.Doc != nil && was.Doc.URL == c.Doc.URL && was.Doc.FetchedAt.After(c.Doc.FetchedAt) {
			d := *c.Doc
			d.FetchedAt = was.Doc.FetchedAt
			c.Doc = &d
		}
		s.newest[c.Cluster] = c
	}
	return context.Cause(ctx)
}

// SetRanks implements observers.Sink.
func (s *Sink) SetRanks(ctx context.Context, ranks []index.RankUpdate) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range ranks {
		if s.newest[r.Cluster].Doc != nil && r.Seq > s.ranks[r.Cluster].Seq {
			s.ranks[r.Cluster] = r
		}
	}
	return context.Cause(ctx)
}

// Touch implements observers.Sink.
func (s *Sink) Touch(ctx context.Context, touches []index.Touch) (missing []index.Touch, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, touch := range touches {
		if !s.touch(touch) {
			missing = append(missing, touch)
		}
	}
	return missing, context.Cause(ctx)
}

func (s *Sink) touch(touch index.Touch) (found bool) {
	c := s.newest[touch.Cluster]
	if c.Doc == nil || c.Doc.URL != touch.URL {
		return false
	}
	if touch.FetchedAt.After(c.Doc.FetchedAt) {
		d := *c.Doc
		d.FetchedAt = touch.FetchedAt
		c.Doc = &d
		s.newest[touch.Cluster] = c
	}
	return true
}

// Applied returns how many changes have come.
func (s *Sink) Applied() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.applied
}

// Moves returns how often a document has moved to another URL.
func (s *Sink) Moves() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moves
}

// Thumbnails returns the thumbnail of each document, nil if it has none, by its URL.
func (s *Sink) Thumbnails() map[page.URL][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	images := make(map[page.URL][]byte)
	for _, c := range s.newest {
		if c.Doc != nil {
			images[c.Doc.URL] = c.Thumbnail
		}
	}
	return images
}

// Documents lists what is in the index.
func (s *Sink) Documents() []*index.Document {
	s.mu.Lock()
	defer s.mu.Unlock()
	var docs []*index.Document
	for _, c := range s.newest {
		if c.Doc != nil {
			d := *c.Doc
			if r := s.ranks[c.Cluster]; r.Seq > c.Seq {
				d.Rank = r.Rank
			}
			docs = append(docs, &d)
		}
	}
	return docs
}
