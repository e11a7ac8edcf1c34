package rankbench

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/webindexer/indexer/internal/rank"
	"github.com/webindexer/indexer/observers/pagerank"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// errorPercent is how many of the pages change for the curve of errors.
const errorPercent = 1.0

// ErrorPoint is the error and the work of rank at a tolerance, and the work of power
// iteration that reaches the same error.
type ErrorPoint struct {
	Tolerance float64 `json:"tolerance"`
	L1        float64 `json:"l1_error"`       // sum over all URLs
	Greatest  float64 `json:"greatest_error"` // of a rank, relative to it
	Visits    int     `json:"visits"`         // since the change, as in Share
	Edges     int     `json:"edges"`
	// Cold and Warm are iterations from nothing, and from the ranks before the change.
	Cold      int `json:"full_iterations"`
	Warm      int `json:"full_from_old_iterations"`
	ColdEdges int `json:"full_edges"`
	WarmEdges int `json:"full_from_old_edges"`
}

// errors changes a part of the pages, and runs rank to smaller and smaller tolerances.
func (r *rig) errors(ctx context.Context) (_ []ErrorPoint, err error) {
	before, err := r.states(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.change(ctx, r.web.pages(int(errorPercent/100*float64(len(r.web.links)))), true); err != nil {
		return nil, err
	}
	g, err := r.web.graph()
	if err != nil {
		return nil, err
	}
	exact, err := rank.Solve(ctx, g, rank.Options{Tolerance: 1e-10})
	if err != nil {
		return nil, err
	}
	var points []ErrorPoint
	var sum Work
	for _, factor := range []float64{100, 30, 10, 3, 1, 0.3} {
		p := ErrorPoint{Tolerance: factor * r.tolerance}
		w, err := r.runTo(ctx, p.Tolerance)
		if err != nil {
			return nil, err
		}
		sum.Rows, sum.Pushes, sum.Edges = sum.Rows+w.Rows, sum.Pushes+w.Pushes, sum.Edges+w.Edges
		p.Visits, p.Edges = sum.visits(), sum.Edges
		if p.L1, p.Greatest, err = r.distance(ctx, exact.Ranks); err != nil {
			return nil, err
		}
		points = append(points, p)
	}
	old := make([]float64, len(before))
	for u := range before {
		old[u] = before[u].Estimate()
	}
	return points, compareErrors(ctx, g, points, exact.Ranks, old)
}

// runTo has rank run at a tolerance, waking the URLs that are above its bound.
func (r *rig) runTo(ctx context.Context, tolerance float64) (Work, error) {
	if err := r.setTolerance(ctx, tolerance); err != nil {
		return Work{}, err
	}
	states, err := r.states(ctx)
	if err != nil {
		return Work{}, err
	}
	var above []string
	for u := range states {
		if math.Abs(states[u].Residual()) > pagerank.ResidualBound(tolerance) {
			above = append(above, schema.URLRow(urlOf(uint32(u))))
		}
	}
	for part := range slices.Chunk(above, chunk) {
		_, err := r.db.Run(ctx, func(tx *txn.Txn) error {
			for _, row := range part {
				tx.Notify(row, schema.Push)
			}
			return nil
		})
		if err != nil {
			return Work{}, err
		}
	}
	return r.run(ctx)
}

// distance is how far the estimates are from exact ranks: in sum, and at most relatively.
func (r *rig) distance(ctx context.Context, exact []float64) (l1, greatest float64, err error) {
	states, err := r.states(ctx)
	for u := range states {
		off := math.Abs(states[u].Estimate() - exact[u])
		l1, greatest = l1+off, max(greatest, off/exact[u])
	}
	return l1, greatest, err
}

// check compares the published ranks with a full solve.
func (r *rig) check(ctx context.Context) (greatest float64, err error) {
	g, err := r.web.graph()
	if err != nil {
		return 0, err
	}
	exact, err := rank.Solve(ctx, g, rank.Options{Tolerance: 1e-10})
	if err != nil {
		return 0, err
	}
	states, err := r.states(ctx)
	for u := range states {
		greatest = max(greatest, math.Abs(states[u].Rank-exact.Ranks[u])/exact.Ranks[u])
	}
	if err == nil && greatest > r.tolerance {
		err = fmt.Errorf("a rank is off by %g of itself, more than the tolerance of %g: this is a bug", greatest, r.tolerance)
	}
	return greatest, err
}

// compareErrors fills in how many iterations power iteration needs to each point's error.
func compareErrors(ctx context.Context, g *rank.Graph, points []ErrorPoint, exact, old []float64) error {
	for _, cold := range []bool{true, false} {
		iterations, next := 0, 0
		enough := func(ranks []float64, _ float64) bool {
			iterations++
			l1 := 0.0
			for u := range ranks {
				l1 += math.Abs(ranks[u] - exact[u])
			}
			for ; next < len(points) && l1 <= points[next].L1; next++ {
				p := &points[next]
				if cold {
					p.Cold, p.ColdEdges = iterations, iterations*g.Edges()
				} else {
					p.Warm, p.WarmEdges = iterations, iterations*g.Edges()
				}
			}
			return next == len(points)
		}
		start := old
		if cold {
			start = nil
		}
		if _, err := rank.Solve(ctx, g, rank.Options{Start: start, Enough: enough}); err != nil {
			return err
		}
	}
	return nil
}
