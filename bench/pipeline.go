package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"indexer/replay"
	"indexer/repository"
)

// PipelineOptions of Pipeline.
type PipelineOptions struct {
	Files   []string
	Workers int // of the observers and loaders, and of the floor
	Rounds  int // floor and pipeline, in turn, this often; medians are reported
	Repo    repository.Options
	Log     io.Writer // a line a round
}

// PipelineResult compares a replay into a fresh directory with the floor.
type PipelineResult struct {
	Pages    int       `json:"pages"` // per round
	Floor    []float64 `json:"floor_seconds"`
	Pipeline []float64 `json:"pipeline_seconds"`
	// FloorRate and PipelineRate are pages per second, by the median round.
	FloorRate    float64 `json:"floor_pages_per_second"`
	PipelineRate float64 `json:"pipeline_pages_per_second"`
	Ratio        float64 `json:"ratio"` // PipelineRate / FloorRate
	// Stages tell where the pipeline's workers spent their time in the last round.
	Stages []Stage `json:"stages"`
	// FloorStages do the same for the floor.
	FloorStages         []Stage              `json:"floor_stages"`
	FetchToSearchableMS repository.LatencyMS `json:"fetch_to_searchable_ms"`
}

// Stage is a part of the work.
type Stage struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"` // summed over workers, waiting for the disk included
	Share   float64 `json:"share"`   // of all stages
	Runs    int64   `json:"runs"`
	Rows    int64   `json:"rows"`
}

// Pipeline measures the pages per second of a replay into a fresh index beside
// the floor: one pass that only reads the same files, interprets each page with
// the same parser, and bulk-indexes the texts with the same library, with as
// many workers.
func Pipeline(ctx context.Context, o PipelineOptions) (*PipelineResult, error) {
	o.Rounds = max(o.Rounds, 1)
	res := &PipelineResult{}
	for round := range o.Rounds {
		f, err := inTemp(func(dir string) (*run, error) { return floor(ctx, dir, o) })
		if err != nil {
			return nil, fmt.Errorf("bench pipeline: floor: %w", err)
		}
		p, err := inTemp(func(dir string) (*run, error) { return pipeline(ctx, dir, o) })
		if err != nil {
			return nil, fmt.Errorf("bench pipeline: %w", err)
		}
		res.Pages = f.pages
		res.Floor = append(res.Floor, f.took.Seconds())
		res.Pipeline = append(res.Pipeline, p.took.Seconds())
		res.Stages, res.FloorStages, res.FetchToSearchableMS = withShares(p.stages), withShares(f.stages), p.latency
		fmt.Fprintf(o.Log, "round %d: floor %.2f s, pipeline %.2f s\n", round+1, f.took.Seconds(), p.took.Seconds())
	}
	res.FloorRate = float64(res.Pages) / median(res.Floor)
	res.PipelineRate = float64(res.Pages) / median(res.Pipeline)
	res.Ratio = res.PipelineRate / res.FloorRate
	return res, nil
}

// run is one measured round of floor or pipeline.
type run struct {
	took    time.Duration
	loaded  time.Duration // until all was fetched and stored, if not yet indexed; of crawls
	pages   int
	stages  []Stage
	latency repository.LatencyMS

	cpu, server time.Duration // of processors: this process, and the server's; of crawls
}

// inTemp runs fn with a directory that is removed afterwards.
func inTemp(fn func(dir string) (*run, error)) (_ *run, err error) {
	dir, err := os.MkdirTemp("", "indexer-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return fn(dir)
}

// pipeline replays into dir and waits until nothing is left to do.
func pipeline(ctx context.Context, dir string, o PipelineOptions) (_ *run, err error) {
	began := time.Now()
	opts := o.Repo
	opts.Workers = o.Workers
	r, err := repository.Open(ctx, dir, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var inputs []replay.Input
	for _, f := range o.Files {
		inputs = append(inputs, replay.File(f))
	}
	if err := replay.Run(ctx, r, inputs, replay.Options{Loaders: o.Workers}, &replay.Progress{}); err != nil {
		return nil, err
	}
	if err := r.Quiesce(ctx); err != nil {
		return nil, err
	}
	took := time.Since(began)
	live := r.Live()
	return &run{took: took, stages: stagesOf(live), latency: live.FetchToSearchableMS}, nil
}

func stagesOf(s *repository.Stats) []Stage {
	var list []Stage
	for _, o := range s.Observers {
		list = append(list, Stage{Name: o.Observer, Seconds: o.BusyMS / 1000, Runs: o.Runs, Rows: o.Rows})
	}
	return list
}

func withShares(list []Stage) []Stage {
	sum := 0.0
	for _, s := range list {
		sum += s.Seconds
	}
	for i := range list {
		list[i].Share = list[i].Seconds / cmp.Or(sum, 1)
	}
	return list
}

func median(list []float64) float64 {
	s := slices.Sorted(slices.Values(list))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}
