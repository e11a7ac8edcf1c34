package measure

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/loader/replay"
	"github.com/webindexer/indexer/page"
)

// BatchSize is how many documents benchmarks index at once.
const BatchSize = 1000

// Bulk puts pages into index files in large batches, and does nothing else: no
// transactions, no duplicates, no links. It is the least that any indexer has to do, so
// it is a baseline for the pipeline.
type Bulk struct {
	docs              chan *index.Document
	pages             atomic.Int64
	parsing, indexing atomic.Int64 // ns
}

// InBulk indexes the pages that load puts, with the given number of workers. The files
// are in dir.
func InBulk(ctx context.Context, dir string, synced bool, workers int, load func(context.Context, *Bulk) error) (_ *Run, err error) {
	began := time.Now()
	w, err := index.OpenWriter(ctx, dir, index.WriterOptions{Sync: synced})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	b := &Bulk{docs: make(chan *index.Document, BatchSize)}
	ctx, cancel := context.WithCancelCause(ctx) // a worker that fails ends the loading
	defer cancel(nil)
	var work sync.WaitGroup
	for range max(workers, 1) {
		work.Go(func() {
			if err := b.index(ctx, w); err != nil {
				cancel(err)
			}
		})
	}
	err = load(ctx, b)
	close(b.docs)
	work.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err != nil {
		return nil, err
	}
	return &Run{Took: time.Since(began), Pages: int(b.pages.Load()), Stages: []Stage{
		{Name: "parse", Seconds: time.Duration(b.parsing.Load()).Seconds(), Rows: b.pages.Load()},
		{Name: "index", Seconds: time.Duration(b.indexing.Load()).Seconds(), Rows: b.pages.Load()},
	}}, nil
}

// ReplayInBulk reads files once, interprets each page and indexes it in bulk.
func ReplayInBulk(ctx context.Context, dir string, files []string, synced bool, workers int) (*Run, error) {
	var progress replay.Progress
	run, err := InBulk(ctx, dir, synced, workers, func(ctx context.Context, b *Bulk) error {
		return replay.Run(ctx, b, Inputs(files), replay.Options{Loaders: workers}, &progress)
	})
	if err == nil {
		run.Responses = int(progress.Fetches.Load())
	}
	return run, err
}

// Loading implements replay.Sink.
func (b *Bulk) Loading() (end func()) { return func() {} }

// Load implements replay.Sink.
func (b *Bulk) Load(ctx context.Context, f *page.Fetch) (loader.Effect, error) {
	began := time.Now()
	doc := page.Interpret(f)
	b.parsing.Add(int64(time.Since(began)))
	if doc.Outcome != page.Page {
		return loader.Renewed, nil
	}
	if err := b.Put(ctx, f, &doc); err != nil {
		return loader.Late, err
	}
	return loader.Changed, nil
}

// Put queues a page for indexing.
func (b *Bulk) Put(ctx context.Context, f *page.Fetch, doc *page.Document) error {
	n := b.pages.Add(1)
	d := &index.Document{
		Cluster: page.ContentKey(sha256.Sum256([]byte(f.URL))), Seq: uint64(n),
		URL: f.URL, Title: doc.Title, Text: doc.Text, Language: doc.Language, FetchedAt: f.Time,
		Members: []page.URL{f.URL}, MembersTotal: 1,
	}
	select {
	case b.docs <- d:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// index applies what is queued, in large batches.
func (b *Bulk) index(ctx context.Context, w *index.Writer) error {
	for d := range b.docs {
		batch := []index.Change{index.Upsert(d)}
		for more := true; more && len(batch) < BatchSize; {
			select {
			case d, ok := <-b.docs:
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
		b.indexing.Add(int64(time.Since(began)))
	}
	return nil
}
