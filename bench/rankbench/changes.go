package rankbench

import (
	"context"
	"slices"
	"time"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/internal/rank"
)

// Local counts what rank touched after changes of single pages.
type Local struct {
	What    string    `json:"what"`
	Changes int       `json:"changes"`
	Rows    Quantiles `json:"rows"`
	Pushes  Quantiles `json:"pushes"`
	Edges   Quantiles `json:"edges"`
	Millis  Quantiles `json:"ms"` // of the runs of rank
}

// Quantiles of a distribution.
type Quantiles struct {
	Median float64 `json:"median"`
	P99    float64 `json:"p99"`
	Max    float64 `json:"max"`
}

func quantiles(list []float64) Quantiles {
	slices.Sort(list)
	return Quantiles{measure.Quantile(list, 0.5), measure.Quantile(list, 0.99), measure.Quantile(list, 1)}
}

// local changes the links of random pages, one after the other, and runs rank after
// each.
func (r *rig) local(ctx context.Context, what string, changes int, all bool) (*Local, error) {
	var rows, pushes, edges, ms []float64
	for _, u := range r.web.pages(changes) {
		if err := r.change(ctx, []uint32{u}, all); err != nil {
			return nil, err
		}
		w, err := r.run(ctx)
		if err != nil {
			return nil, err
		}
		rows, pushes = append(rows, float64(w.Rows)), append(pushes, float64(w.Pushes))
		edges, ms = append(edges, float64(w.Edges)), append(ms, 1000*w.Took)
	}
	return &Local{what, len(rows), quantiles(rows), quantiles(pushes), quantiles(edges), quantiles(ms)}, nil
}

// Share is a part of all pages changing all their links at once.
type Share struct {
	Percent float64 `json:"percent"`
	Pages   int     `json:"pages"`
	Rank    Work    `json:"rank"`
	// Full is power iteration over the changed graph, in memory, to the same tolerance.
	Full Full `json:"full"`
	// Visits is how many times fewer pages rank touched than the full solve: in the store
	// and in memory together; a full solve touches every page in each iteration. Edges is
	// the same of the edges gone along.
	Visits float64 `json:"visits_ratio"`
	Edges  float64 `json:"edges_ratio"`
}

// Full is what a full solve did.
type Full struct {
	Iterations int     `json:"iterations"`
	Visits     int     `json:"visits"`
	Edges      int     `json:"edges"`
	Took       float64 `json:"seconds"` // of the solve alone: the graph is already in memory
}

// full solves from a start, nil for nothing, until the tolerance is kept.
func full(ctx context.Context, g *rank.Graph, tolerance float64, start []float64) (*rank.Solution, Full, error) {
	began := time.Now()
	s, err := rank.Solve(ctx, g, rank.Options{Tolerance: tolerance, Start: start})
	if err != nil {
		return nil, Full{}, err
	}
	return s, Full{s.Iterations, s.Iterations * g.Nodes(), s.Iterations * g.Edges(), time.Since(began).Seconds()}, nil
}

func (r *rig) share(ctx context.Context, percent float64) (*Share, error) {
	pages := r.web.pages(max(1, int(percent/100*float64(len(r.web.links)))))
	if err := r.change(ctx, pages, true); err != nil {
		return nil, err
	}
	s := &Share{Percent: percent, Pages: len(pages)}
	var err error
	if s.Rank, err = r.run(ctx); err != nil {
		return nil, err
	}
	g, err := r.web.graph()
	if err != nil {
		return nil, err
	}
	if _, s.Full, err = full(ctx, g, r.tolerance, nil); err != nil {
		return nil, err
	}
	s.Visits = float64(s.Full.Visits) / float64(max(1, s.Rank.visits()))
	s.Edges = float64(s.Full.Edges) / float64(max(1, s.Rank.Edges))
	return s, nil
}
