// Package measure holds what the benchmarks share: processor time, peak memory, bytes on
// disk, and the two things that most of them run, the pipeline and a bulk index.
package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/webindexer/indexer/loader/replay"
	"github.com/webindexer/indexer/repository"
)

// Run is one measured run of one side of a comparison.
type Run struct {
	Took   time.Duration
	Loaded time.Duration // until everything was fetched and stored, in crawls
	Pages  int
	Stages []Stage
	// Responses counts everything that was recorded, redirects and errors too. Only
	// replays in bulk count it.
	Responses int
	Latency   repository.LatencyMS

	// CPU is the processor time of this process, Server that of the process that
	// serves the pages of a crawl. 0 where the system does not tell.
	CPU, Server time.Duration
}

// Stage is a part of the work.
type Stage struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"` // summed over workers, waiting for the disk included
	Share   float64 `json:"share"`   // of all stages
	Runs    int64   `json:"runs"`
	Rows    int64   `json:"rows"`
}

// StagesOf returns a stage for each observer.
func StagesOf(s *repository.Stats) []Stage {
	var list []Stage
	for _, o := range s.Observers {
		list = append(list, Stage{Name: o.Observer, Seconds: o.BusyMS / 1000, Runs: o.Runs, Rows: o.Rows})
	}
	return list
}

// WithShares fills in the share of each stage.
func WithShares(list []Stage) []Stage {
	sum := 0.0
	for _, s := range list {
		sum += s.Seconds
	}
	for i := range list {
		list[i].Share = list[i].Seconds / cmp.Or(sum, 1)
	}
	return list
}

// StagesText prints a line for each stage.
func StagesText(b *strings.Builder, stages []Stage) {
	for _, s := range stages {
		fmt.Fprintf(b, "  %-16s %7.2f s %5.1f %%  %d runs, %d rows\n", s.Name, s.Seconds, 100*s.Share, s.Runs, s.Rows)
	}
}

// Replay loads files into dir, waits until every observer is done, and returns how long that took.
func Replay(ctx context.Context, dir string, files []string, opts repository.Options) (took time.Duration, err error) {
	began := time.Now()
	r, err := repository.Open(ctx, dir, opts)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := replay.Run(ctx, r, Inputs(files), replay.Options{Loaders: opts.Workers}, &replay.Progress{}); err != nil {
		return 0, err
	}
	err = r.Quiesce(ctx)
	return time.Since(began), err
}

// Inputs are the files to replay.
func Inputs(files []string) (list []replay.Input) {
	for _, f := range files {
		list = append(list, replay.File(f))
	}
	return list
}

// InTemp calls fn with a new directory and removes it afterwards.
func InTemp[T any](fn func(dir string) (T, error)) (res T, err error) {
	dir, err := os.MkdirTemp("", "indexer-bench-")
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	data := filepath.Join(dir, "data") // the mark of index files is next to their directory
	if err := os.Mkdir(data, 0o700); err != nil {
		return res, err
	}
	return fn(data)
}

// Every calls fn at once, and then again and again until stop is called, which waits for it.
func Every(d time.Duration, fn func()) (stop func()) {
	end := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		ticker := time.NewTicker(d)
		defer ticker.Stop()
		for {
			fn()
			select {
			case <-ticker.C:
			case <-end:
				return
			}
		}
	})
	return func() { close(end); work.Wait() }
}

// Self is a command that runs this program again, with other arguments, in a process
// of its own.
func Self(ctx context.Context, args ...string) (*exec.Cmd, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe)
	cmd.Args = append([]string{os.Args[0]}, args...)
	return cmd, nil
}

// Milliseconds of a duration, as reports have them.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Quantile of a sorted list, 0 ≤ q ≤ 1; 0 if it is empty.
func Quantile[T time.Duration | float64](sorted []T, q float64) T {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// Median of a list; 0 if it is empty.
func Median(list []float64) float64 {
	s := slices.Sorted(slices.Values(list))
	n := len(s)
	switch {
	case n == 0:
		return 0
	case n%2 == 0:
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[n/2]
}
