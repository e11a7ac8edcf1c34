// Package replay sends recorded crawls through the pipeline as if they were happening now:
// it reads WARC files and passes each fetch to a Sink.
package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/warc"
)

// Sink takes fetches; package repository implements it.
type Sink interface {
	Load(ctx context.Context, f *page.Fetch) (loader.Effect, error)
	// Loading tells the sink that fetches come as fast as they can be loaded, until end is called.
	Loading() (end func())
}

// Input is a WARC file.
type Input struct {
	Name string
	// Regular says that reading the input never waits for a writer. Until all of it is read,
	// the sink need not do anything to make single pages searchable sooner. (Documents that
	// the observers exported in the moments without a load, 960 of 3,130 in a replay of 6,710
	// responses, were exported again as soon as other pages linked to them.)
	Regular bool
	// Open returns a reader of the records. If the reader has a Close method, it must be
	// closed.
	Open func(warc.Options) (*warc.Reader, error)
}

// File returns the Input of a regular file.
func File(path string) Input {
	return Input{Name: path, Regular: true, Open: func(o warc.Options) (*warc.Reader, error) { return warc.Open(path, o) }}
}

// Options of Run. Zero fields take defaults.
type Options struct {
	Loaders int // concurrent loads; default 4
	WARC    warc.Options
}

// Progress counts what Run does. Its fields may be read at any time.
type Progress struct {
	Records, Fetches, Bytes        atomic.Int64 // of all inputs so far; Bytes as stored
	Changed, Renewed, Late, Failed atomic.Int64 // fetches by effect
	Problems                       atomic.Int64
	current                        atomic.Pointer[string]
}

// Current returns the name of the input that is being read.
func (p *Progress) Current() string {
	if name := p.current.Load(); name != nil {
		return *name
	}
	return ""
}

// buffer bounds the number of fetches that wait between reader and loaders, and
// bufferBytes the total size of their bodies: enough to keep the loaders busy, but little
// enough to bound memory if bodies are large. A single body passes whatever its size.
const (
	buffer      = 16
	bufferBytes = 64 << 20
)

// Run reads the inputs in order and loads every fetch. It returns when all fetches are
// loaded, ctx ends, or the sink fails; it does not wait for observers. If an input cannot
// be read, Run continues with the next one and reports it in the error.
func Run(ctx context.Context, sink Sink, inputs []Input, opts Options, p *Progress) error {
	fetches := make(chan *page.Fetch, buffer)
	room := semaphore.NewWeighted(bufferBytes)
	g, ctx := errgroup.WithContext(ctx)
	for range cmp.Or(opts.Loaders, 4) {
		g.Go(func() error { return load(ctx, sink, fetches, room, p) })
	}
	s := &source{opts: opts.WARC, sink: sink, fetches: fetches, room: room, p: p}
	g.Go(func() error {
		defer close(fetches)
		return s.read(ctx, inputs)
	})
	err := g.Wait()
	return errors.Join(err, errors.Join(s.unread...))
}

func load(ctx context.Context, sink Sink, fetches <-chan *page.Fetch, room *semaphore.Weighted, p *Progress) error {
	for f := range fetches {
		effect, err := sink.Load(ctx, f)
		room.Release(weight(f))
		if err != nil {
			return err
		}
		p.count(effect)
	}
	return nil
}

func (p *Progress) count(e loader.Effect) {
	switch e {
	case loader.Changed:
		p.Changed.Add(1)
	case loader.Renewed:
		p.Renewed.Add(1)
	case loader.Late:
		p.Late.Add(1)
	case loader.Noted:
		p.Failed.Add(1)
	}
}

// weight returns the share of a fetch in bufferBytes.
func weight(f *page.Fetch) int64 { return min(int64(len(f.Body)), bufferBytes) }

// source reads inputs and sends their fetches to the loaders.
type source struct {
	opts    warc.Options
	sink    Sink
	fetches chan<- *page.Fetch
	room    *semaphore.Weighted
	p       *Progress
	unread  []error // an InputError for each input that could not be read
}

func (s *source) read(ctx context.Context, inputs []Input) error {
	for _, in := range inputs {
		s.p.current.Store(&in.Name)
		if err := s.readInput(ctx, in); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			s.unread = append(s.unread, &InputError{Name: in.Name, Err: err})
		}
	}
	return nil
}

func (s *source) readInput(ctx context.Context, in Input) (err error) {
	if in.Regular {
		defer s.sink.Loading()()
	}
	r, err := in.Open(s.opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	before := s.p.Bytes.Load()
	for {
		rec, err := r.Next()
		s.p.Bytes.Store(before + r.Stats().Bytes)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		s.p.Records.Add(1)
		f, ok := rec.Fetch()
		if !ok {
			continue
		}
		s.p.Fetches.Add(1)
		if err := s.pass(ctx, &f); err != nil {
			return err
		}
	}
}

func (s *source) pass(ctx context.Context, f *page.Fetch) error {
	if err := s.room.Acquire(ctx, weight(f)); err != nil {
		return context.Cause(ctx)
	}
	select {
	case s.fetches <- f:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// InputError means that an input could not be read.
type InputError struct {
	Name string
	Err  error
}

// Error includes the name of the input.
func (e *InputError) Error() string { return fmt.Sprintf("read %s: %v", e.Name, e.Err) }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }
