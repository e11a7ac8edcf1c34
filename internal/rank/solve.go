package rank

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
)

// Options of Solve.
type Options struct {
	// Tolerance bounds the relative error of each rank; 1e-12 if 0.
	Tolerance float64
	// Workers share an iteration; as many as there are processors if 0.
	Workers int
	// Start is where to start from, a rank for each node; Teleport everywhere if nil.
	// The nearer to the ranks, the fewer iterations.
	Start []float64
	// Enough is asked after each iteration, including the last, whether ranks with this
	// error (relative to each of them) will do; nil never stops early.
	Enough func(ranks []float64, tolerance float64) bool
}

// Solution is what Solve found.
type Solution struct {
	Ranks      []float64 // one for each node
	Tolerance  float64   // relative error that none of them exceeds
	Iterations int
}

// maxIterations: the error falls by Damping or more with each, so double precision
// is reached long before.
const maxIterations = 1000

// Solve computes all ranks by power iteration: every node pulls from its sources the
// ranks of the previous iteration. Workers share the chunks of nodes. No worker writes
// what another one reads, and one worker adds each sum in the order of the sources, so
// that the result does not depend on the number of workers.
//
// # Why the error is known
//
// Let r(u) be the amount by which a node changes in an iteration, and G(v,u) ≥ 0 how much of a
// change of v reaches u in the end. Then rank(u) − new(u) = Σ (G(v,u) − [v=u])·r(v), and
// rank(u) = Σ G(v,u)·Teleport. So |r(v)| ≤ ε for all v means an error of at most ε/Teleport
// of each rank, whatever the graph looks like.
//
// Rejected: Gauss-Seidel (half the iterations, but sums would depend on the number of
// workers, or there would be one), and Monte Carlo (1e-9 is needed to decide ties).
func Solve(ctx context.Context, g *Graph, o Options) (*Solution, error) {
	o = o.withDefaults()
	if o.Start != nil && len(o.Start) != g.nodes {
		return nil, fmt.Errorf("rank: solve: %d ranks to start from for %d nodes", len(o.Start), g.nodes)
	}
	s := newSolver(g, o)
	for n := 1; n <= maxIterations; n++ {
		change, err := s.iterate(ctx)
		if err != nil {
			return nil, fmt.Errorf("rank: solve: %w", err)
		}
		tolerance := change / Teleport
		if enough := o.Enough != nil && o.Enough(s.ranks, tolerance); enough || tolerance <= o.Tolerance {
			return &Solution{Ranks: s.ranks, Tolerance: tolerance, Iterations: n}, nil
		}
	}
	return nil, fmt.Errorf("rank: solve: the ranks did not converge within the tolerance of %g in %d iterations", o.Tolerance, maxIterations)
}

func (o Options) withDefaults() Options {
	o.Tolerance, o.Workers = cmp.Or(o.Tolerance, 1e-12), cmp.Or(o.Workers, runtime.GOMAXPROCS(0))
	return o
}

type solver struct {
	g       *Graph
	workers int
	ranks   []float64
	shares  []float64 // what each node passes to each of its targets
}

func newSolver(g *Graph, o Options) *solver {
	start := slices.Clone(o.Start)
	if start == nil {
		start = slices.Repeat([]float64{Teleport}, g.nodes)
	}
	return &solver{g: g, workers: max(1, min(o.Workers, len(g.chunks))), ranks: start, shares: make([]float64, g.nodes)}
}

// iterate makes one iteration. It returns the largest change of a rank, as far as it
// can still reach others: ranks are rounded, so a change within the rounding of a
// large rank counts as none.
func (s *solver) iterate(ctx context.Context) (float64, error) {
	if err := s.share(ctx); err != nil {
		return 0, err
	}
	return s.each(ctx, s.pull)
}

// each has the workers do all chunks, in turn, and returns the largest result.
func (s *solver) each(ctx context.Context, do func(chunk int) float64) (float64, error) {
	largest := make([]float64, s.workers)
	group, ctx := errgroup.WithContext(ctx)
	for w := range s.workers {
		group.Go(func() error {
			most := 0.0
			for c := w; c < len(s.g.chunks); c += s.workers {
				if err := context.Cause(ctx); err != nil {
					return err
				}
				most = max(most, do(c))
			}
			largest[w] = most
			return nil
		})
	}
	err := group.Wait()
	return slices.Max(largest), err
}

// share computes the shares of the ranks.
func (s *solver) share(ctx context.Context) error {
	_, err := s.each(ctx, func(chunk int) float64 {
		first := chunk * chunkNodes
		for u := first; u < min(first+chunkNodes, s.g.nodes); u++ {
			if d := s.g.out[u]; d > 0 {
				s.shares[u] = s.ranks[u] / float64(d)
			}
		}
		return 0
	})
	return err
}

// rounding is the relative error that a sum of doubles may have and that no further
// iteration removes.
const rounding = 1e-15

// pull renews the ranks of a chunk.
func (s *solver) pull(chunk int) (most float64) {
	s.g.sums(chunk, s.shares, func(u int, sum float64) {
		now := Teleport + Damping*sum
		if change := math.Abs(now - s.ranks[u]); change > rounding*now {
			most = max(most, change)
		}
		s.ranks[u] = now
	})
	return most
}

// Inflows returns what each node receives if every node passes what is given for it
// on to its targets, in equal parts.
func (g *Graph) Inflows(ctx context.Context, given []float64) ([]float64, error) {
	if len(given) != g.nodes {
		return nil, fmt.Errorf("rank: inflows: %d numbers for %d nodes", len(given), g.nodes)
	}
	s := newSolver(g, Options{Start: given}.withDefaults())
	in := make([]float64, g.nodes)
	if err := s.share(ctx); err != nil {
		return nil, err
	}
	_, err := s.each(ctx, func(chunk int) float64 {
		g.sums(chunk, s.shares, func(u int, sum float64) { in[u] = sum })
		return 0
	})
	return in, err
}

// sums calls fn with what comes in at each node of a chunk. The varints are read by
// hand: a call for each edge would take longer than all the rest.
func (g *Graph) sums(chunk int, shares []float64, fn func(u int, sum float64)) {
	data := g.chunks[chunk]
	first, pos := chunk*chunkNodes, 0
	for u := first; u < min(first+chunkNodes, g.nodes); u++ {
		n, sum, source := uint64(0), 0.0, uint32(0)
		for shift := 0; ; shift += 7 {
			b := data[pos]
			pos++
			n |= uint64(b&0x7f) << shift
			if b < 0x80 {
				break
			}
		}
		for range n {
			b := data[pos]
			pos++
			delta := uint32(b & 0x7f)
			for shift := 7; b >= 0x80; shift += 7 {
				b = data[pos]
				pos++
				delta |= uint32(b&0x7f) << shift
			}
			source += delta
			sum += shares[source]
		}
		fn(u, sum)
	}
}
