package webtest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// Options of Open. The zero value is a pipeline that is stepped by hand, with its own
// table and Sink.
type Options struct {
	Mode    txn.Mode
	Workers int            // 0: stepped by hand
	Table   store.Table    // nil: a new one in memory
	Sink    observers.Sink // nil: a new Sink
	Events  notify.Events
	// Tolerance bounds the relative error of ranks; 0: the default. A large tolerance
	// leaves many canonical URLs open.
	Tolerance float64
	// Render is the setting of rendering, and Browser renders; nil: there is none.
	Render  schema.RenderSetting
	Browser *Browser
	// PDF reads PDF documents; nil: they are not read.
	PDF loader.PDFReader
	// Part, Limits and Graph are those of observers.Options.
	Part   schema.PartSize
	Limits observers.Limits
	Graph  *observers.GraphCache
	// Step is txn.Options.Step.
	Step func(step string, cell txn.Cell) error
}

// Rig is a pipeline with its loader.
type Rig struct {
	DB   *txn.DB
	Sink observers.Sink

	opts     Options
	registry *notify.Registry
	pipeline *notify.Pipeline
	stepper  *notify.Stepper
	loader   *loader.Loader
	mute     bool
}

// Open starts a pipeline. Opening a rig on the Table of a closed one is a restart: the
// new rig continues the pending work.
func Open(ctx context.Context, opts Options) (*Rig, error) {
	if opts.Table == nil {
		var err error
		if opts.Table, err = mem.New(txn.Groups(schema.Groups()...), mem.Options{}); err != nil {
			return nil, err
		}
	}
	if opts.Sink == nil {
		opts.Sink = NewSink()
	}
	r := &Rig{Sink: opts.Sink, opts: opts}
	if err := r.writeSettings(ctx); err != nil {
		return nil, err
	}
	tracker := observers.NewTracker()
	var err error
	o := observers.Options{Sink: opts.Sink, Tracker: tracker, Part: opts.Part, Limits: opts.Limits, Graph: opts.Graph}
	if opts.Browser != nil {
		o.Renderer = opts.Browser
	}
	if r.registry, err = o.Registry(); err != nil {
		return nil, err
	}
	backlog := 0 // the default
	if opts.Workers == 0 {
		backlog = 1 << 30 // otherwise the loader would wait for a step that is never made
	}
	r.pipeline = notify.New(r.registry, notify.Options{Workers: opts.Workers, Backlog: backlog, Events: opts.Events})
	r.DB, err = txn.Open(ctx, opts.Table, txn.Options{
		Mode: opts.Mode, Observers: r.observersOf, Handover: r.pipeline.Handover, Step: opts.Step,
	})
	if err != nil {
		return nil, err
	}
	r.loader = loader.New(r.DB, r.pipeline, tracker.Loaded)
	r.loader.PDF = opts.PDF
	if opts.Workers > 0 {
		err = r.pipeline.Start(ctx, r.DB)
	} else {
		r.stepper, err = notify.NewStepper(ctx, r.pipeline, r.DB)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Settled returns a rig that has loaded fetches, one per line for ParseFetch, and has no
// work left.
func Settled(t testing.TB, fetches ...string) *Rig {
	t.Helper()
	r, err := Open(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, r)
	r.Add(t, fetches...)
	if err := r.Quiesce(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return r
}

// Add loads fetches, one per line for ParseFetch.
func (r *Rig) Add(t testing.TB, fetches ...string) {
	t.Helper()
	for _, line := range fetches {
		f, err := ParseFetch(line)
		if err == nil {
			_, err = r.Load(t.Context(), f)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// writeSettings writes the tolerance and the setting of rendering, before any other write to
// the table.
func (r *Rig) writeSettings(ctx context.Context) error {
	if r.opts.Tolerance == 0 && r.opts.Render == schema.RenderOff {
		return nil
	}
	db, err := txn.Open(ctx, r.opts.Table, txn.Options{})
	if err != nil {
		return err
	}
	_, err = db.Run(ctx, func(tx *txn.Txn) error {
		if r.opts.Tolerance != 0 {
			tx.Set(schema.AppRow, schema.RankTolerance, schema.EncodeTolerance(r.opts.Tolerance))
		}
		r.opts.Render.Write(tx)
		return nil
	})
	return errors.Join(err, db.Close())
}

func (r *Rig) observersOf(c txn.Column) []string {
	if r.mute {
		return nil
	}
	return r.registry.Observers(c)
}

// Table returns the table, for the next Open.
func (r *Rig) Table() store.Table { return r.opts.Table }

// Close stops the pipeline where it is. The table stays open.
func (r *Rig) Close() error {
	err := r.pipeline.Stop()
	return errors.Join(err, r.DB.Close())
}

// SetPDF makes another reader read PDF documents. No load may be under way.
func (r *Rig) SetPDF(pdf loader.PDFReader) { r.loader.PDF = pdf }

// Load loads a fetch.
func (r *Rig) Load(ctx context.Context, f *page.Fetch) (loader.Effect, error) {
	return r.loader.Load(ctx, f)
}

// Step makes one run of an observer. pick chooses among n runs that are ready. Step returns
// false if there was nothing to do.
func (r *Rig) Step(ctx context.Context, pick func(n int) int) (bool, error) {
	return r.stepper.Step(ctx, pick)
}

// Quiesce waits, or steps, until all work is done.
func (r *Rig) Quiesce(ctx context.Context, pick func(n int) int) error {
	if r.stepper == nil {
		_, err := r.pipeline.Quiesce(ctx)
		return err
	}
	return r.stepper.Drain(ctx, pick)
}

// Tamper makes a transaction that wakes no observer. The pipeline must be quiescent:
// Tamper is for damaging a table after all work is done.
func (r *Rig) Tamper(ctx context.Context, fn func(*txn.Txn) error) error {
	r.mute = true
	defer func() { r.mute = false }()
	if _, err := r.DB.Run(ctx, fn); err != nil {
		return fmt.Errorf("tamper: %w", err)
	}
	return nil
}

// Acknowledge makes a cell that Tamper has written look as if every observer had seen it.
func (r *Rig) Acknowledge(ctx context.Context, cell txn.Cell) error {
	return r.Tamper(ctx, func(tx *txn.Txn) error {
		for _, o := range r.registry.Observers(cell.Column) {
			tx.AddTrigger(txn.Trigger{Cell: cell, Observer: o, TS: tx.Start(), Strong: true})
		}
		return nil
	})
}
