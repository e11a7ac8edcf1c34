package scalebench

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/webindexer/indexer/store"
)

// Calls counts the calls of a table by kind.
type Calls struct {
	Reads   float64 `json:"reads"`
	Scans   float64 `json:"scans"`
	Guarded float64 `json:"guarded"` // Mutate
	Writes  float64 `json:"writes"`  // Apply
	Rows    float64 `json:"rows"`    // written by Apply
	Waited  float64 `json:"waited"`  // milliseconds that all these calls waited
}

// All is the number of calls.
func (c Calls) All() float64 { return c.Reads + c.Scans + c.Guarded + c.Writes }

func (c Calls) minus(d Calls) Calls {
	return Calls{c.Reads - d.Reads, c.Scans - d.Scans, c.Guarded - d.Guarded, c.Writes - d.Writes, c.Rows - d.Rows, c.Waited - d.Waited}
}

func (c Calls) plus(d Calls) Calls { return c.minus(Calls{}.minus(d)) }

func (c Calls) per(n float64) Calls {
	return Calls{c.Reads / n, c.Scans / n, c.Guarded / n, c.Writes / n, c.Rows / n, c.Waited / n}
}

// slow adds the latency of a remote table: each call takes a fixed time longer, without
// using a core. Any number of calls can be under way at the same time. slow hides the
// extra capabilities of an engine on one machine, and does not close the table.
type slow struct {
	inner                         store.Table
	delay                         time.Duration
	reads, scans, guarded, writes atomic.Int64
	rows, waited                  atomic.Int64
}

func (s *slow) calls() Calls {
	return Calls{
		Reads: float64(s.reads.Load()), Scans: float64(s.scans.Load()), Guarded: float64(s.guarded.Load()),
		Writes: float64(s.writes.Load()), Rows: float64(s.rows.Load()), Waited: float64(s.waited.Load()) / 1e6,
	}
}

// travel waits for the delay.
func (s *slow) travel(ctx context.Context, kind *atomic.Int64) error {
	kind.Add(1)
	if s.delay == 0 {
		return ctx.Err()
	}
	began := time.Now()
	defer func() { s.waited.Add(int64(time.Since(began))) }()
	return pause(ctx, s.delay)
}

func (s *slow) Read(ctx context.Context, row []byte, sel ...store.Selector) ([]store.Cell, error) {
	if err := s.travel(ctx, &s.reads); err != nil {
		return nil, err
	}
	return s.inner.Read(ctx, row, sel...)
}

func (s *slow) Scan(ctx context.Context, r store.Range, fn func(store.Cell) error) ([]byte, error) {
	if err := s.travel(ctx, &s.scans); err != nil {
		return r.Start, err
	}
	return s.inner.Scan(ctx, r, fn)
}

func (s *slow) Mutate(ctx context.Context, m store.RowMutation) (store.Result, error) {
	if err := s.travel(ctx, &s.guarded); err != nil {
		return store.Result{}, err
	}
	return s.inner.Mutate(ctx, m)
}

func (s *slow) Apply(ctx context.Context, rows []store.RowMutation) error {
	s.rows.Add(int64(len(rows)))
	if err := s.travel(ctx, &s.writes); err != nil {
		return err
	}
	return s.inner.Apply(ctx, rows)
}

func (s *slow) Limits() store.Limits      { return s.inner.Limits() }
func (s *slow) Groups() []store.GroupSpec { return s.inner.Groups() }
func (s *slow) Close() error              { return nil }
