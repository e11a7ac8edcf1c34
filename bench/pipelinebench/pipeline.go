// Package pipelinebench measures what it costs to load a page: compared with indexers that
// do less, and as the repository grows.
package pipelinebench

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/webindexer/indexer/bench/measure"
)

// Options of Run.
type Options struct {
	Files    []string
	Rounds   int      // all sides in turn, this often; medians are reported
	Unranked bool     // measure the pipeline without ranks too
	Settings []string // arguments for the processes that measure
	Profile  string   // keeps the processor profile of the last pipeline in this file
	Log      io.Writer
}

// Result compares the pipeline, which replays files into a fresh directory, with
// indexers that do less.
type Result struct {
	Pages int        `json:"responses"`
	Sides []Compared `json:"sides"`
}

// Compared is one side of the comparison.
type Compared struct {
	Kind string `json:"kind"`
	// CPU and Seconds are those of the rounds.
	CPU     []float64 `json:"cpu_seconds"`
	Seconds []float64 `json:"seconds"`
	// CPUms is the median processor time of a response in milliseconds, Plain how many
	// times that of the plain side it is, and Rate the median of responses per second.
	CPUms float64 `json:"cpu_ms_per_response"`
	Plain float64 `json:"times_plain"`
	Rate  float64 `json:"responses_per_second"`
	Last  *Side   `json:"last_round"`
}

// Run measures the sides in turn, each time in another order.
func Run(ctx context.Context, o Options) (*Result, error) {
	kinds := []string{Plain, bulk, Pipeline}
	if o.Unranked {
		kinds = append(kinds, unranked)
	}
	sides := make([]Compared, len(kinds))
	for round := range max(o.Rounds, 1) {
		for turn := range kinds {
			i := (turn + round) % len(kinds)
			side, err := measure.InTemp(func(dir string) (*Side, error) {
				return apart(ctx, SideOptions{Kind: kinds[i], Dir: dir, Files: o.Files, Profile: profileFor(kinds[i], o.Profile)}, o.Settings)
			})
			if err != nil {
				return nil, fmt.Errorf("pipeline: %w", err)
			}
			s := &sides[i]
			s.Kind, s.Last = kinds[i], side
			s.CPU, s.Seconds = append(s.CPU, side.CPU), append(s.Seconds, side.Seconds)
			fmt.Fprintf(o.Log, "round %d: %-8s  %.2f s of processor time, %.2f s\n", round+1, kinds[i], side.CPU, side.Seconds)
		}
	}
	return newResult(sides), nil
}

// newResult compares the sides with the first of them.
func newResult(sides []Compared) *Result {
	for i := range sides {
		s := &sides[i]
		pages := float64(max(s.Last.Pages, 1))
		s.CPUms = 1000 * measure.Median(s.CPU) / pages
		if sec := measure.Median(s.Seconds); sec > 0 {
			s.Rate = pages / sec
		}
		if base := sides[0].CPUms; base > 0 { // unknown on some systems
			s.Plain = s.CPUms / base
		}
	}
	return &Result{Pages: sides[0].Last.Pages, Sides: sides}
}

// profileFor returns where the profile of a side goes: only that of the pipeline is kept.
func profileFor(kind, path string) string {
	if kind == Pipeline {
		return path
	}
	return ""
}

// lastOf is the last round of a kind, which was measured.
func (r *Result) lastOf(kind string) *Side {
	return r.Sides[slices.IndexFunc(r.Sides, func(s Compared) bool { return s.Kind == kind })].Last
}

// filesIn lists the WARC files of a directory.
func filesIn(dir string) (list []string, err error) {
	for _, pattern := range []string{"*.warc", "*.warc.gz"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no files named *.warc or *.warc.gz", dir)
	}
	slices.Sort(list)
	return list, nil
}
