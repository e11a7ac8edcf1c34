package bench

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"indexer/index"
	"indexer/loader"
	"indexer/page"
	"indexer/replay"
)

// floorBatch is how many documents the floor indexes at once.
const floorBatch = 1000

// floor reads, interprets and bulk-indexes, and nothing else: no transactions,
// no duplicates, no links.
func floor(ctx context.Context, dir string, o PipelineOptions) (_ *run, err error) {
	began := time.Now()
	w, err := index.OpenWriter(ctx, dir, index.WriterOptions{Sync: o.Repo.Sync})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	s := &floorSink{docs: make(chan *index.Document, floorBatch)}
	g, gctx := errgroup.WithContext(ctx)
	for range max(o.Workers, 1) {
		g.Go(func() error { return s.index(gctx, w) })
	}
	g.Go(func() error {
		defer close(s.docs)
		var inputs []replay.Input
		for _, f := range o.Files {
			inputs = append(inputs, replay.File(f))
		}
		return replay.Run(gctx, s, inputs, replay.Options{Loaders: o.Workers}, &replay.Progress{})
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return &run{took: time.Since(began), pages: int(s.pages.Load()), stages: []Stage{
		{Name: "parse", Seconds: time.Duration(s.parsing.Load()).Seconds(), Rows: s.pages.Load()},
		{Name: "index", Seconds: time.Duration(s.indexing.Load()).Seconds(), Rows: s.pages.Load()},
	}}, nil
}

// floorSink interprets fetches as they come.
type floorSink struct {
	docs              chan *index.Document
	pages             atomic.Int64
	parsing, indexing atomic.Int64 // ns
}

// Load implements replay.Sink.
func (s *floorSink) Load(ctx context.Context, f *page.Fetch) (loader.Effect, error) {
	began := time.Now()
	doc := page.Interpret(f)
	s.parsing.Add(int64(time.Since(began)))
	if doc.Outcome != page.Page {
		return loader.Renewed, nil
	}
	if err := s.put(ctx, f, &doc); err != nil {
		return loader.Late, err
	}
	return loader.Changed, nil
}

// put queues a page for indexing.
func (s *floorSink) put(ctx context.Context, f *page.Fetch, doc *page.Document) error {
	n := s.pages.Add(1)
	d := &index.Document{
		Cluster: page.ContentKey(sha256.Sum256([]byte(f.URL))), Seq: uint64(n),
		URL: f.URL, Title: doc.Title, Text: doc.Text, Language: doc.Language, FetchedAt: f.Time,
		Members: []page.URL{f.URL}, MembersTotal: 1,
	}
	select {
	case s.docs <- d:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// index applies what is waiting, in large batches.
func (s *floorSink) index(ctx context.Context, w *index.Writer) error {
	for d := range s.docs {
		batch := []index.Change{index.Upsert(d)}
		for more := true; more && len(batch) < floorBatch; {
			select {
			case d, ok := <-s.docs:
				if more = ok; ok {
					batch = append(batch, index.Upsert(d))
				}
			default:
				more = false
			}
		}
		began := time.Now()
		if err := w.Apply(ctx, batch); err != nil {
			return err
		}
		s.indexing.Add(int64(time.Since(began)))
	}
	return nil
}
