// Package txnbench measures transactions and notifications. Each benchmark runs next to its
// baseline, because machines differ and are noisy; only ratios count.
//
//	figure8.go     reads and writes against raw Badger: Figure 8 of the paper
//	oracle.go      timestamps per second
//	latency.go     from a commit to the start of the observer it wakes
//	contention.go  many goroutines on few rows, against a mutex for each row
//	brokerage.go   a workload in the manner of TPC-E (paper, section 3.3)
//	cost.go        where the time of one transaction goes
package txnbench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Names are the benchmarks, in the order in which All runs them.
var Names = []string{"figure8", "cost", "oracle", "latency", "contention", "brokerage"}

// Options of All.
type Options struct {
	Names []string // of those to run; none means all
	Quick bool     // a few seconds each, for a first look
	Sync  bool     // figure8 and cost: sync the log before a write is acknowledged
	Log   io.Writer
}

// Result holds what was run.
type Result struct {
	Figure8    *Figure8Result  `json:"figure8,omitempty"`
	Cost       []CostRow       `json:"cost,omitempty"`
	Oracle     []OracleRow     `json:"oracle,omitempty"`
	Latency    *LatencyResult  `json:"latency,omitempty"`
	Contention []ContentionRow `json:"contention,omitempty"`
	Brokerage  []BrokerageRow  `json:"brokerage,omitempty"`
}

// sizes of a run.
type sizes struct {
	cache              int64
	slice, longSlice   time.Duration
	rounds             int
	samples, flood     int
	customers, tickers int
}

var (
	fullSizes  = sizes{16 << 20, 300 * time.Millisecond, 5 * time.Second, 5, 5000, 1_000_000, 1000, 700}
	quickSizes = sizes{4 << 20, 50 * time.Millisecond, 500 * time.Millisecond, 3, 500, 50_000, 1000, 700}
	goroutines = []int{1, 2, 8, 64}
)

// All runs benchmarks by name.
func All(ctx context.Context, o Options) (*Result, error) {
	z := fullSizes
	if o.Quick {
		z = quickSizes
	}
	return all(ctx, o, z)
}

func all(ctx context.Context, o Options, z sizes) (res *Result, err error) {
	res = &Result{}
	runs := map[string]func() error{
		"figure8": func() (err error) {
			res.Figure8, err = Figure8(ctx, Figure8Options{
				CacheBytes: z.cache, Values: []int{100, 10_000}, Goroutines: goroutines, Slice: z.slice, Rounds: z.rounds, Sync: o.Sync, Log: o.Log,
			})
			return err
		},
		"cost": func() (err error) {
			res.Cost, err = Cost(ctx, CostOptions{
				Cells: int(z.cache / 400), Goroutines: []int{1, 64}, Slice: z.slice, Rounds: z.rounds, Sync: o.Sync, Log: o.Log,
			})
			return err
		},
		"oracle": func() (err error) {
			res.Oracle, err = Oracle(ctx, OracleOptions{Goroutines: goroutines, Slice: z.slice, Rounds: z.rounds, Log: o.Log})
			return err
		},
		"latency": func() (err error) {
			res.Latency, err = Latency(ctx, LatencyOptions{Samples: z.samples, Flood: z.flood, Log: o.Log})
			return err
		},
		"contention": func() (err error) {
			res.Contention, err = Contention(ctx, ContentionOptions{Goroutines: 64, Rows: []int{1, 10, 1000}, Slice: z.longSlice, Log: o.Log})
			return err
		},
		"brokerage": func() (err error) {
			res.Brokerage, err = Brokerage(ctx, BrokerageOptions{
				Customers: z.customers, Securities: z.tickers, Goroutines: 64, Slice: z.longSlice, Log: o.Log,
			})
			return err
		},
	}
	for _, name := range Names {
		if len(o.Names) > 0 && !slices.Contains(o.Names, name) {
			continue
		}
		if err := runs[name](); err != nil {
			return res, err
		}
	}
	return res, nil
}

// Text is the result for people.
func (r *Result) Text() string {
	var b strings.Builder
	head := func(title string) { fmt.Fprintf(&b, "\n%s\n", title) }
	if r.Figure8 != nil {
		head("Reads and writes per second, compared with raw Badger (figure8)")
		for _, s := range r.Figure8.Summary {
			fmt.Fprintf(&b, "%-5s  %-9s  median %.2f of raw  least %.2f  by processor time %.2f  bar %.2f  paper %.2f\n", s.Op, s.Path, s.Median, s.Least, s.CPU, s.Bar, s.Paper)
		}
		lines(&b, r.Figure8.Rows, (*Figure8Row).String)
	}
	if r.Cost != nil {
		head("What an operation costs, from raw Badger up (cost)")
		lines(&b, r.Cost, (*CostRow).String)
	}
	if r.Oracle != nil {
		head("Timestamps per second, compared with a counter behind a mutex (oracle)")
		lines(&b, r.Oracle, (*OracleRow).String)
	}
	if r.Latency != nil {
		head("From a commit to the observer that it wakes (latency)")
		b.WriteString(r.Latency.String())
	}
	if r.Contention != nil {
		head("64 goroutines increment counters, compared with a mutex for each row (contention)")
		lines(&b, r.Contention, (*ContentionRow).String)
	}
	if r.Brokerage != nil {
		head("A brokerage in the manner of TPC-E; all books add up (brokerage)")
		lines(&b, r.Brokerage, (*BrokerageRow).String)
	}
	return strings.TrimPrefix(b.String(), "\n")
}

func lines[T any](b *strings.Builder, rows []T, line func(*T) string) {
	for i := range rows {
		b.WriteString(line(&rows[i]))
		b.WriteByte('\n')
	}
}
