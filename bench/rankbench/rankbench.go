// Package rankbench measures what it costs to update ranks after links have changed. It
// compares that with full solves of the same graph in the same run.
//
// It generates a web (web.go), writes it into a store in the state that a finished crawl
// would leave (rig.go), and runs only the rank observer on it. It never parses or indexes
// pages, so a million pages take minutes.
//
//	changes.go  what the observer touches after one page, or a share of all pages, has
//	            changed, against a full solve
//	errors.go   error against work: the observer and power iteration
package rankbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/schema"
)

// Options of Run.
type Options struct {
	Sizes     []int   // webs, in URLs
	Degree    int     // links of a page
	DeadEnds  float64 // share of the URLs that have no links
	Tolerance float64 // of ranks; 0 for the default
	Changes   int     // of single pages, of each kind
	Percents  []float64
	Seed      uint64
	Log       io.Writer
}

// Result has a part for each size.
type Result struct {
	Tolerance float64      `json:"tolerance"`
	Degree    int          `json:"links_per_page"`
	DeadEnds  float64      `json:"dead_ends"`
	Seed      uint64       `json:"seed"`
	Sizes     []SizeResult `json:"sizes"`
}

// SizeResult is what was measured on one web.
type SizeResult struct {
	URLs        int          `json:"urls"`
	Edges       int          `json:"edges"`
	MostInlinks int          `json:"most_inlinks"`
	Local       []Local      `json:"local"`
	Shares      []Share      `json:"shares"`
	Errors      []ErrorPoint `json:"errors"`
	// GreatestError is that of a published rank after all changes, against a full solve.
	GreatestError float64 `json:"greatest_error"`
}

// Run measures. It fails if a rank is not within the tolerance in the end.
func Run(ctx context.Context, o Options) (*Result, error) {
	o.Tolerance = cmp.Or(o.Tolerance, schema.DefaultRankTolerance)
	res := &Result{Tolerance: o.Tolerance, Degree: o.Degree, DeadEnds: o.DeadEnds, Seed: o.Seed}
	for _, n := range o.Sizes {
		s, err := measure.InTemp(func(dir string) (*SizeResult, error) { return runSize(ctx, dir, n, &o) })
		if err != nil {
			return nil, fmt.Errorf("rank: %d URLs: %w", n, err)
		}
		res.Sizes = append(res.Sizes, *s)
	}
	return res, nil
}

func runSize(ctx context.Context, dir string, n int, o *Options) (_ *SizeResult, err error) {
	fmt.Fprintf(o.Log, "%d URLs: writing\n", n)
	w := newWeb(n, o.Degree, o.DeadEnds, o.Seed)
	r, err := openRig(ctx, dir, w, o.Tolerance)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	res := &SizeResult{URLs: n, MostInlinks: w.mostInlinks()}
	for _, links := range w.links {
		res.Edges += len(links)
	}
	return res, r.measure(ctx, o, res)
}

func (r *rig) measure(ctx context.Context, o *Options, res *SizeResult) error {
	for _, all := range []bool{false, true} {
		what := map[bool]string{false: "one link of a page", true: "all links of a page"}[all]
		fmt.Fprintf(o.Log, "%d URLs: %s, %d times\n", res.URLs, what, o.Changes)
		l, err := r.local(ctx, what, o.Changes, all)
		if err != nil {
			return err
		}
		res.Local = append(res.Local, *l)
		fmt.Fprintf(o.Log, "  medians: %.0f rows, %.0f pushes, %.1f ms\n", l.Rows.Median, l.Pushes.Median, l.Millis.Median)
	}
	for _, percent := range o.Percents {
		fmt.Fprintf(o.Log, "%d URLs: %g %% of the pages\n", res.URLs, percent)
		s, err := r.share(ctx, percent)
		if err != nil {
			return err
		}
		res.Shares = append(res.Shares, *s)
		fmt.Fprintf(o.Log, "  rank: %d visits in %.2f s; full solve: %d visits in %.2f s\n", s.Rank.visits(), s.Rank.Took, s.Full.Visits, s.Full.Took)
	}
	var err error
	if res.GreatestError, err = r.check(ctx); err != nil {
		return err
	}
	fmt.Fprintf(o.Log, "%d URLs: error against work\n", res.URLs)
	res.Errors, err = r.errors(ctx)
	return err
}

// Text is for people.
func (res *Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "ranks within %g; %d links a page, %.0f %% of the URLs without links; seed %d\n", res.Tolerance, res.Degree, 100*res.DeadEnds, res.Seed)
	for i := range res.Sizes {
		res.Sizes[i].text(&b)
	}
	return b.String()
}

func (s *SizeResult) text(b *strings.Builder) {
	fmt.Fprintf(b, "\n%d URLs, %d edges, at most %d to one URL; greatest error %.5f of a rank\n", s.URLs, s.Edges, s.MostInlinks, s.GreatestError)
	fmt.Fprintf(b, "\n  %-22s %9s %9s %9s %9s %9s %10s\n", "a page changes", "rows", "rows", "rows", "pushes", "pushes", "ms")
	fmt.Fprintf(b, "  %-22s %9s %9s %9s %9s %9s %10s\n", "", "median", "p99", "most", "median", "p99", "median")
	for _, l := range s.Local {
		fmt.Fprintf(b, "  %-22s %9.0f %9.0f %9.0f %9.0f %9.0f %10.1f\n", l.What, l.Rows.Median, l.Rows.P99, l.Rows.Max, l.Pushes.Median, l.Pushes.P99, l.Millis.Median)
	}
	fmt.Fprintf(b, "\n  %-8s %9s %10s %10s %12s %8s | %5s %12s %8s | %9s %9s\n",
		"changed", "pages", "rows", "pushes", "edges", "s", "iter.", "page visits", "s", "visits", "edges")
	for _, c := range s.Shares {
		fmt.Fprintf(b, "  %6g %% %9d %10d %10d %12d %8.2f | %5d %12d %8.2f | %8.1f× %8.1f×\n", c.Percent, c.Pages, c.Rank.Rows, c.Rank.Pushes, c.Rank.Edges, c.Rank.Took,
			c.Full.Iterations, c.Full.Visits, c.Full.Took, c.Visits, c.Edges)
	}
	fmt.Fprintf(b, "\n  %g %% changed: error against edges gone along\n", errorPercent)
	fmt.Fprintf(b, "  %10s %12s %10s %12s | %12s %14s\n", "tolerance", "L1 error", "greatest", "rank", "full solve", "from old ranks")
	for _, p := range s.Errors {
		fmt.Fprintf(b, "  %10g %12.5g %10.5f %12d | %12d %14d\n", p.Tolerance, p.L1, p.Greatest, p.Edges, p.ColdEdges, p.WarmEdges)
	}
}
