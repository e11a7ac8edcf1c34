// Package mem is the simplest engine that keeps the promises of package store. Everything is in
// memory and lost when the process ends. It serves tests, and readers who want to see what an
// engine must do.
//
// The whole table is one immutable value. A writer, one at a time, builds the
// next value and publishes it with one atomic store; a reader takes the current
// value and reads it without locks. Rows are therefore never seen half written,
// and a snapshot is a pointer.
package mem

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/internal/engine"
)

// Options of New.
type Options struct {
	// TwoPhaseOnly hides the capabilities: the table is then neither a
	// store.Snapshotter nor a store.Committer, like one on many machines.
	TwoPhaseOnly bool
	// Limits replaces the usual limits, those of store/badgerdb, where a field is not zero.
	Limits store.Limits
}

// defaultLimits are those of store/badgerdb.
var defaultLimits = store.Limits{
	MaxRowBytes:    16 << 10,
	MaxColumnBytes: 8 << 10,
	MaxValueBytes:  8 << 20,
	MaxBatchBytes:  8<<20 + 64<<10,
	MaxTS:          store.MaxTS,
}

// New returns an empty table with these locality groups.
func New(groups []store.GroupSpec, opts Options) (store.Table, error) {
	schema, err := engine.NewSchema(groups)
	if err != nil {
		return nil, err
	}
	t := &table{checker: engine.Checker{Schema: schema, Limits: withDefaults(opts.Limits)}}
	t.current.Store(&state{schema: schema, roots: make([]*node, schema.Len())})
	if opts.TwoPhaseOnly {
		return t, nil
	}
	return &capable{table: t}, nil
}

func withDefaults(l store.Limits) store.Limits {
	d := defaultLimits
	return store.Limits{
		MaxTS:          cmp.Or(l.MaxTS, d.MaxTS),
		MaxRowBytes:    cmp.Or(l.MaxRowBytes, d.MaxRowBytes),
		MaxColumnBytes: cmp.Or(l.MaxColumnBytes, d.MaxColumnBytes),
		MaxValueBytes:  cmp.Or(l.MaxValueBytes, d.MaxValueBytes),
		MaxBatchBytes:  cmp.Or(l.MaxBatchBytes, d.MaxBatchBytes),
	}
}

// table implements store.Table.
type table struct {
	gate    engine.Gate
	checker engine.Checker
	writing sync.Mutex // one writer at a time
	current atomic.Pointer[state]
}

func (t *table) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	return t.readAt(ctx, nil, row, sel)
}

func (t *table) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	return t.scanAt(ctx, nil, r, fn)
}

// readAt reads a given state, or the current one for nil.
func (t *table) readAt(ctx context.Context, s *state, row []byte, sel []store.Selector) ([]store.Cell, error) {
	if err := t.gate.Enter(ctx); err != nil {
		return nil, err
	}
	defer t.gate.Leave()
	if s == nil {
		s = t.current.Load()
	}
	return s.read(row, sel)
}

func (t *table) scanAt(ctx context.Context, s *state, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	if err := t.gate.Enter(ctx); err != nil {
		return nil, err
	}
	defer t.gate.Leave()
	if s == nil {
		s = t.current.Load()
	}
	return s.scan(ctx, r, fn)
}

func (t *table) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	if err := t.gate.Enter(ctx); err != nil {
		return store.Result{}, err
	}
	defer t.gate.Leave()
	if err := t.checker.Row(&m); err != nil {
		return store.Result{}, err
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	s := t.current.Load()
	if res, no := s.refused(&m); no {
		return res, nil
	}
	s = s.clone()
	s.apply(&m, 0)
	t.current.Store(s)
	return store.Result{Outcome: store.Applied}, nil
}

func (t *table) Apply(ctx context.Context, rows []store.RowMutation) error {
	if err := t.gate.Enter(ctx); err != nil {
		return err
	}
	defer t.gate.Leave()
	if err := t.checker.Apply(rows); err != nil {
		return err
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	s := t.current.Load().clone()
	for i := range rows {
		s.apply(&rows[i], 0)
	}
	t.current.Store(s)
	return nil
}

func (t *table) Limits() store.Limits { return t.checker.Limits }

func (t *table) Groups() []store.GroupSpec { return t.checker.Schema.Specs() }

func (t *table) Close() error {
	t.gate.Close()
	return nil
}
