// Package recoverybench repeats the idea of Figure 10 of the Percolator paper: what happens
// to throughput while a third of a deployment's machines is lost. All processes are this
// program: oracles, workers, and a loader that always has more generated pages to load. The
// benchmark kills some workers, starts them again later, and then kills the oracle.
//
// Several times a second it asks the workers how many rows their observers have handled. At
// the end nothing may be missing: the documents must equal those of a single process that
// replayed the same pages into a data directory.
package recoverybench

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"github.com/webindexer/indexer/bench/measure"
)

// What can be killed.
const (
	Workers = "workers" // a third of them; they are started again a phase later
	Oracle  = "oracle"  // the one that serves, while the other one stands by
	Oracles = "oracles" // both; one is started again at once
)

// Options of Run.
type Options struct {
	Kill     []string      // what is killed, in this order
	Store    string        // the URL of a PostgreSQL database
	Program  string        // the program indexer; "" builds it
	Workers  int           // processes
	Threads  int           // observers that a worker runs at a time
	Phase    time.Duration // how long each part of the run lasts
	Interval time.Duration // of the table and the plot
	Delay    time.Duration // of a round trip to the database
	Pages    int           // at most
	Backlog  int           // rows that may wait before the loader pauses
	Seed     uint64
	Log      io.Writer
}

// Result is a run. Rows are rows that were handled by observers which any worker may run;
// pages are those of the observer that interprets pages.
type Result struct {
	Workers   int        `json:"workers"`
	Killed    int        `json:"killed"` // workers, each time
	Threads   int        `json:"threads"`
	DelayMS   float64    `json:"delay_ms"`
	Phases    []Phase    `json:"phases"`
	Intervals []Interval `json:"intervals"`
	Marks     []Mark     `json:"marks"`
	Failovers []Failover `json:"failovers"`
	// Pause is the longest time of the first phase, in which nothing went wrong, without a
	// row that was handled.
	Pause  float64 `json:"longest_pause_seconds"`
	Loaded int     `json:"pages_loaded"`
	Check  Check   `json:"check"`

	interval float64 // seconds
}

// Phase is a part of the run.
type Phase struct {
	Name  string  `json:"name"`
	From  float64 `json:"from_seconds"`
	To    float64 `json:"to_seconds"`
	Rows  float64 `json:"rows_per_second"`
	Pages float64 `json:"pages_per_second"`
	Share float64 `json:"share"` // of the rows per second of the first phase
}

// Mark is when something was done to the deployment.
type Mark struct {
	At   float64 `json:"at_seconds"`
	What string  `json:"what"`
}

// Failover says what the death of an oracle cost.
type Failover struct {
	What string `json:"what"`
	// Serving is how long after the kill an oracle served again.
	Serving float64 `json:"serving_after_seconds"`
	// Pause is the time from the last row that a worker handled before the kill, which is a
	// commit, to the first one after it.
	Pause float64 `json:"pause_seconds"`
}

// run is a run under way.
type run struct {
	*deployment
	res  *Result
	feed *feed
}

// Run starts a deployment, causes failures in it, and checks the result. If the check
// fails, Run returns the measurements with the error.
func Run(ctx context.Context, o Options) (*Result, error) {
	return measure.InTemp(func(dir string) (*Result, error) { return start(ctx, dir, o) })
}

func start(ctx context.Context, dir string, o Options) (*Result, error) {
	if o.Program == "" {
		o.Program = filepath.Join(dir, "indexer")
		if err := build(ctx, o.Program); err != nil {
			return nil, err
		}
	}
	ctx, fail := context.WithCancelCause(ctx)
	d, err := newDeployment(ctx, &o, dir, fail)
	if err != nil {
		fail(nil)
		return nil, err
	}
	r := &run{deployment: d, res: &Result{
		Workers: o.Workers, Killed: (o.Workers + 2) / 3, Threads: o.Threads, DelayMS: measure.Milliseconds(o.Delay), interval: o.Interval.Seconds(),
	}}
	err = r.all(ctx)
	if cause := context.Cause(ctx); cause != nil && err != nil {
		err = cause // a process that ended too early, and not its consequence
	}
	fail(nil) // ends whatever still runs
	return r.res, errors.Join(err, r.close())
}

// pollUntil waits for a condition.
func pollUntil(ctx context.Context, holds func() bool) error {
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
