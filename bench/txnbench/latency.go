package txnbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/txn"
)

// LatencyOptions of Latency.
type LatencyOptions struct {
	Samples int // commits, one after the other, before and after
	Flood   int // notifications that come and go in between
	Log     io.Writer
}

// Delays are quantiles of the time from a commit to the start of the observer that
// it wakes, in milliseconds.
type Delays struct {
	P50 float64 `json:"p50_ms"`
	P99 float64 `json:"p99_ms"`
	Max float64 `json:"max_ms"`
	// TotalP50 and TotalP99 count from before the transaction: its commit included.
	TotalP50 float64 `json:"with_commit_p50_ms"`
	TotalP99 float64 `json:"with_commit_p99_ms"`
	// ScanMS is the time of one look at the notify column, which is empty by then.
	ScanMS float64 `json:"empty_scan_ms"`
}

// LatencyResult is the delay before and after many notifications came and went.
type LatencyResult struct {
	Samples int     `json:"samples"`
	Before  Delays  `json:"before"`
	Flood   int     `json:"notifications_in_between"`
	Rate    float64 `json:"notifications_per_second"` // of the flood: commits, runs and removals
	After   Delays  `json:"after"`
	BarP50  float64 `json:"bar_p50_ms"`
	BarP99  float64 `json:"bar_p99_ms"`
}

var watched = txn.Column{Group: column.Group, Name: "watched"}

// latency is a pipeline with one observer that tells when it starts.
type latency struct {
	db       *txn.DB
	pipeline *notify.Pipeline
	measured atomic.Bool
	sample   string    // the row on its way
	commit   time.Time // of the sample; set before the hand-over
	started  chan time.Time
	seen     atomic.Int64
}

// Latency measures how long an idle pipeline takes from a commit to the start of
// the observer that watches what was written: the time from the hand-over, when the
// commit is durable and visible, to the first line of the observer. Then a flood of
// notifications comes and goes, and it measures again: a store that keeps a tombstone
// for each must not get slower.
func Latency(ctx context.Context, o LatencyOptions) (*LatencyResult, error) {
	res, err := measure.InTemp(func(dir string) (*LatencyResult, error) { return measureLatency(ctx, dir, o) })
	if err != nil {
		return nil, fmt.Errorf("txn latency: %w", err)
	}
	return res, nil
}

func measureLatency(ctx context.Context, dir string, o LatencyOptions) (res *LatencyResult, err error) {
	l := &latency{started: make(chan time.Time, 1)}
	registry, err := notify.NewRegistry(notify.Observer{Name: "watch", Watches: watched, Batch: 32, Run: l.run})
	if err != nil {
		return nil, err
	}
	l.pipeline = notify.New(registry, notify.Options{Capacity: 1 << 20})
	opts := txn.Options{Observers: registry.Observers, Handover: l.handover}
	err = withDB(ctx, dir, opts, badgerdb.Options{}, func(db *txn.DB) (err error) {
		l.db = db
		if err := l.pipeline.Start(ctx, db); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, l.pipeline.Stop()) }()
		res, err = l.measure(ctx, o)
		return err
	})
	return res, err
}

func (l *latency) measure(ctx context.Context, o LatencyOptions) (*LatencyResult, error) {
	res := &LatencyResult{Samples: o.Samples, Flood: o.Flood, BarP50: 1, BarP99: 10}
	var err error
	if res.Before, err = l.delays(ctx, o.Samples); err != nil {
		return nil, err
	}
	fmt.Fprintf(o.Log, "notification to observer, before:        %s\n", res.Before)
	began := time.Now()
	if err := l.flood(ctx, o.Flood); err != nil {
		return nil, err
	}
	res.Rate = float64(o.Flood) / time.Since(began).Seconds()
	if res.After, err = l.delays(ctx, o.Samples); err != nil {
		return nil, err
	}
	fmt.Fprintf(o.Log, "notification to observer, after %7d: %s\n", o.Flood, res.After)
	return res, nil
}

func (l *latency) handover(notes []txn.Notification) {
	if l.measured.Load() {
		l.sample, l.commit = notes[0].Cell.Row, time.Now()
	}
	l.pipeline.Handover(notes)
}

func (l *latency) run(_ context.Context, _ *txn.Txn, rows []string) error {
	if l.measured.Load() {
		now := time.Now()
		if !slices.Equal(rows, []string{l.sample}) {
			return fmt.Errorf("%w: woken for %q by %q", notify.ErrFatal, rows, l.sample)
		}
		l.started <- now
	}
	l.seen.Add(int64(len(rows)))
	return nil
}

// delays makes commits one by one, each when the run of the one before has ended.
func (l *latency) delays(ctx context.Context, n int) (d Delays, err error) {
	l.measured.Store(true)
	defer l.measured.Store(false)
	var list, total []time.Duration
	for i := range n {
		began := time.Now()
		if err := l.set(ctx, "sample"+strconv.Itoa(i)); err != nil {
			return d, err
		}
		select {
		case at := <-l.started:
			list = append(list, at.Sub(l.commit))
			total = append(total, at.Sub(began))
		case <-ctx.Done():
			return d, context.Cause(ctx)
		}
		if _, err := l.pipeline.Quiesce(ctx); err != nil {
			return d, err
		}
	}
	slices.Sort(list)
	slices.Sort(total)
	at := func(list []time.Duration, q float64) float64 { return measure.Milliseconds(measure.Quantile(list, q)) }
	d = Delays{P50: at(list, 0.5), P99: at(list, 0.99), Max: at(list, 1), TotalP50: at(total, 0.5), TotalP99: at(total, 0.99)}
	began := time.Now()
	notes, _, err := l.db.Notifications(ctx, "", 1)
	d.ScanMS = measure.Milliseconds(time.Since(began))
	if err == nil && len(notes) > 0 {
		err = fmt.Errorf("a notification is left at %s", notes[0].Cell)
	}
	return d, err
}

func (l *latency) set(ctx context.Context, rows ...string) error {
	_, err := l.db.Run(ctx, func(tx *txn.Txn) error {
		for _, r := range rows {
			tx.Set(r, watched, []byte("v"))
		}
		return nil
	})
	return err
}

// flood writes n rows from several goroutines and waits until each has been seen.
func (l *latency) flood(ctx context.Context, n int) error {
	const writers, per = 8, 100
	l.seen.Store(0)
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(writers)
	for from := 0; from < n; from += per {
		g.Go(func() error {
			if err := l.pipeline.Admit(gctx); err != nil {
				return err
			}
			var rows []string
			for i := from; i < min(from+per, n); i++ {
				rows = append(rows, fmt.Sprintf("flood%09d", i))
			}
			return l.set(gctx, rows...)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if _, err := l.pipeline.Quiesce(ctx); err != nil {
		return err
	}
	if seen := l.seen.Load(); seen < int64(n) {
		return fmt.Errorf("the observer saw %d of %d rows", seen, n)
	}
	return nil
}

// String is the delays as a line.
func (d Delays) String() string {
	return fmt.Sprintf("p50 %.4f ms  p99 %.4f ms  max %.3f ms  with the commit p50 %.3f ms  p99 %.3f ms  empty scan %.3f ms",
		d.P50, d.P99, d.Max, d.TotalP50, d.TotalP99, d.ScanMS)
}

// String is the result as lines.
func (r *LatencyResult) String() string {
	return fmt.Sprintf("before                %s\nafter %9d      %s   (%.0f notifications/s)\nbars                  p50 %.0f ms  p99 %.0f ms\n",
		r.Before, r.Flood, r.After, r.Rate, r.BarP50, r.BarP99)
}
