// Package scalebench repeats the idea of Figure 9 of the Percolator paper: how throughput
// grows with the number of workers. On one machine, two or three workers would use up the
// cores. So the benchmark adds some milliseconds to each call of the store, as a network
// would, and lets each worker do only a few things at a time. What it then shows is what
// workers wait for besides the store: locks, each other's rows, the oracle, work that has
// one owner, and scans for notifications.
package scalebench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/webindexer/indexer/bench/measure"
)

// Options of Run.
type Options struct {
	Workers []int         // how many workers, ascending
	Work    []string      // Transactions, Pages
	Delay   time.Duration // of each call
	Threads int           // what a worker does at a time
	Slice   time.Duration // for which transactions are measured
	Pages   int           // that are indexed
	// Store is the PostgreSQL database in which each worker is a process of its own, by way
	// of a proxy that delays. "" is a table in memory.
	Store string
	Seed  uint64
	Log   io.Writer
}

// Result has a row for each kind of work and number of workers.
type Result struct {
	Store   string  `json:"store"`
	DelayMS float64 `json:"delay_ms"`
	Threads int     `json:"threads"`
	Rows    []Row   `json:"rows"`
}

// Row is the throughput of some workers.
type Row struct {
	Work      string  `json:"work"`
	Workers   int     `json:"workers"`
	PerSecond float64 `json:"per_second"`
	// Efficiency is the PerSecond of a worker, relative to that in the first
	// row of this work.
	Efficiency float64 `json:"efficiency"`
	// Adjusted is Efficiency if calls had taken as long as in the first row. The rest of
	// the loss is the cost of interference between workers. 0 if the duration of a call
	// is unknown.
	Adjusted float64 `json:"adjusted"`
	// Each is what a transaction or a page took on average, in calls.
	Each Calls `json:"calls_each"`
	// CallMS is how long a call waited on average. On a busy machine it is more than the
	// delay, because a worker does not run as soon as it is ready.
	CallMS float64 `json:"call_ms"`
	// Cores is how many cores all workers and the oracle kept busy. The database is not in it.
	Cores float64 `json:"cores"`
}

// Run measures.
func Run(ctx context.Context, o Options) (*Result, error) {
	res := &Result{Store: "memory", DelayMS: measure.Milliseconds(o.Delay), Threads: o.Threads}
	if o.Store != "" {
		res.Store = "postgres"
	}
	for _, work := range o.Work {
		first := len(res.Rows)
		for _, n := range o.Workers {
			row, err := measure.InTemp(func(dir string) (Row, error) { return o.measure(ctx, dir, work, n) })
			if err != nil {
				return nil, fmt.Errorf("scaling: %s with %d workers: %w", work, n, err)
			}
			res.Rows = append(res.Rows, row)
			last := &res.Rows[len(res.Rows)-1]
			last.compare(res.Rows[first])
			fmt.Fprintln(o.Log, last.text())
		}
	}
	return res, nil
}

// compare compares a row with the first one of its work.
func (r *Row) compare(first Row) {
	r.Efficiency = r.PerSecond / first.PerSecond * float64(first.Workers) / float64(r.Workers)
	if first.CallMS > 0 {
		r.Adjusted = r.Efficiency * r.CallMS / first.CallMS
	}
}

// measure starts workers, waits until they have done enough, and ends them.
func (o *Options) measure(ctx context.Context, dir, work string, workers int) (row Row, err error) {
	s, err := o.newSite(ctx, work, dir)
	if err != nil {
		return row, err
	}
	defer func() { err = errors.Join(err, s.closers.close()) }()
	crew, line := &crew{latest: make([]Progress, workers)}, &timeline{}
	err = while(ctx,
		func(ctx context.Context) error { return s.work(ctx, crew, work, workers) },
		func(ctx context.Context) error { return o.watch(ctx, s, crew, work, line) })
	if err != nil {
		return row, err
	}
	if row = line.row(work, workers); !(row.PerSecond > 0) {
		return row, errors.New("all was done before it could be measured: give more --pages")
	}
	if work == Pages {
		row.scale(float64(o.Pages) / line.total())
	}
	return row, nil
}

// while runs watch while work is under way. Then it ends the work, and waits for it. The context
// of watch ends if the work does.
func while(ctx context.Context, work, watch func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan error, 1)
	go func() {
		err := work(ctx)
		cancel(errors.New("the workers have ended"))
		ended <- err
	}()
	err := watch(ctx)
	cancel(nil)
	return errors.Join(err, <-ended)
}

// watch samples until the end of the measurement: for transactions, the time is over;
// for pages, no notification is left that any worker may handle.
func (o *Options) watch(ctx context.Context, s *site, c *crew, work string, line *timeline) error {
	ticker := time.NewTicker(reportEvery)
	defer ticker.Stop()
	for i := 1; ; i++ {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
		line.add(c.sum(), s.cores())
		switch {
		case work == Transactions:
			if began := c.allBegan(); !began.IsZero() && time.Since(began) >= o.Slice {
				line.keepLast(o.Slice)
				return nil
			}
		case i%25 == 0 && line.total() > 0:
			if left, err := s.left(ctx); err != nil || left == 0 {
				line.keepMiddle()
				return err
			}
		}
	}
}
