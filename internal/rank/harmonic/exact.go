package harmonic

import (
	"context"
	"math/bits"
)

// exact searches from 64 nodes at a time, one bit each (Then et al.: The More the Merrier,
// 2014): a step of all of them is one pass over the edges. The time is that of nodes/64
// passes for each step of the longest distance; memory is 24 bytes for a node.
func exact(ctx context.Context, g *Graph) ([]float64, error) {
	n := g.Nodes()
	sums := make([]float64, n)
	seen, front, next := make([]uint64, n), make([]uint64, n), make([]uint64, n)
	for from := 0; from < n; from += 64 {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		clear(seen)
		clear(front)
		for i := from; i < min(from+64, n); i++ {
			seen[i], front[i] = 1<<(i-from), 1<<(i-from)
		}
		for distance := 1; g.step(seen, front, next, sums, distance); distance++ {
			front, next = next, front
		}
	}
	return sums, nil
}

// step goes from what was reached last (front) to what is reached next, and says whether
// that is anything.
func (g *Graph) step(seen, front, next []uint64, sums []float64, distance int) (any bool) {
	for node := range next {
		reached := uint64(0)
		for _, s := range g.sourcesOf(node) {
			reached |= front[s]
		}
		reached &^= seen[node]
		next[node] = reached
		if reached != 0 {
			any = true
			seen[node] |= reached
			sums[node] += float64(bits.OnesCount64(reached)) / float64(distance)
		}
	}
	return any
}
