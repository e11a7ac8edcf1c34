package rank

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// Refinement says from where Refine starts, and how far it goes.
type Refinement struct {
	// Start is a rank for each node. The nearer to the ranks, the less work.
	Start []float64
	// Tolerance bounds the relative error of each rank; 1e-12 if 0.
	Tolerance float64
	// Enough is asked again and again whether ranks with this error (relative to each of them)
	// will do, and last about those that are returned; nil never stops early.
	Enough func(ranks []float64, tolerance float64) bool
}

// Refine computes all ranks from others that are near to them, as they are when few edges have
// changed. It visits all edges once, and after that only those of nodes with large residuals. Solve
// visits all edges in each iteration but spends less time on each, so it is faster if many nodes
// are far from ranks that must be exact (BenchmarkFewChanges).
//
// The residual of a node is the difference between its rank and what its sources pass on. A
// push adds the residual of a node to its rank, and passes Damping of it on to the residuals of
// its targets (Gauss-Southwell iteration; Andersen, Chung and Lang, "Local Graph Partitioning
// using PageRank Vectors", 2006). Refine pushes all residuals above a limit, and lowers the
// limit.
//
// The error is known for the same reason as that of Solve: if no residual exceeds ε, none of the
// ranks is off by more than ε/Teleport of itself. Rounding comes on top: for a node with n
// inlinks, up to n·1e-16 of its rank.
func Refine(ctx context.Context, g *OutGraph, o Refinement) (*Solution, error) {
	if len(o.Start) != g.Nodes() {
		return nil, fmt.Errorf("rank: refine: %d ranks to start from for %d nodes", len(o.Start), g.Nodes())
	}
	p := newPusher(g, o.Start)
	tolerance := cmp.Or(o.Tolerance, 1e-12)
	limit := p.largest()
	if math.IsInf(limit, 0) || math.IsNaN(limit) {
		return nil, fmt.Errorf("rank: refine: the ranks to start from have a residual of %v", limit)
	}
	for ; ; limit /= 4 {
		if err := p.push(ctx, limit); err != nil {
			return nil, fmt.Errorf("rank: refine: %w", err)
		}
		reached := limit / Teleport
		if enough := o.Enough != nil && o.Enough(p.ranks, reached); enough || reached <= tolerance {
			return &Solution{Ranks: p.ranks, Tolerance: reached, Iterations: p.passes}, nil
		}
	}
}

// A pusher holds ranks and the residual of each.
type pusher struct {
	g          *OutGraph
	ranks      []float64
	residuals  []float64
	list, next []uint32 // nodes of this pass and of the next one
	passes     int      // over the nodes whose residual exceeds a limit
}

func newPusher(g *OutGraph, start []float64) *pusher {
	p := &pusher{g: g, ranks: slices.Clone(start), residuals: make([]float64, len(start))}
	for u, rank := range p.ranks {
		p.residuals[u] += Teleport - rank
	}
	for u, targets := range g.Edges() {
		share := Damping * p.ranks[u] / float64(len(targets))
		for _, t := range targets {
			p.residuals[t] += share
		}
	}
	return p
}

// largest returns the largest residual.
func (p *pusher) largest() (most float64) {
	for u := range p.residuals {
		if p.exceeds(uint32(u), 0) {
			most = max(most, math.Abs(p.residuals[u]))
		}
	}
	return most
}

// exceeds reports whether a residual exceeds a limit and is more than rounding error.
func (p *pusher) exceeds(u uint32, limit float64) bool {
	r := math.Abs(p.residuals[u])
	return r > limit && r > rounding*p.ranks[u]
}

// push pushes until no residual exceeds a limit.
func (p *pusher) push(ctx context.Context, limit float64) error {
	for {
		p.list = p.list[:0]
		for u := range p.residuals {
			if p.exceeds(uint32(u), limit) {
				p.list = append(p.list, uint32(u))
			}
		}
		if len(p.list) == 0 {
			return nil
		}
		// A pass is over the nodes that the one before has brought above the limit.
		for len(p.list) > 0 {
			p.passes++
			for i, u := range p.list {
				if i%(1<<12) == 0 && ctx.Err() != nil {
					return context.Cause(ctx)
				}
				p.pushNode(u, limit)
			}
			p.list, p.next = p.next, p.list[:0]
		}
	}
}

// pushNode pushes the residual of a node if it exceeds the limit, and appends to next the targets
// that this brings above it.
func (p *pusher) pushNode(u uint32, limit float64) {
	if !p.exceeds(u, limit) { // other residuals have balanced it, or it is within rounding
		return
	}
	now := p.ranks[u] + p.residuals[u]
	residual := now - p.ranks[u]
	p.residuals[u] -= residual // what rounding has left
	p.ranks[u] = now
	count, list := p.g.list(u)
	share := Damping * residual / float64(count) // not used if there are none
	for t, pos := int64(u), 0; count > 0; count-- {
		// The varints are read by hand: a call for each edge would take longer than all the rest.
		b := list[pos]
		pos++
		delta := uint64(b & 0x7f)
		for shift := 7; b >= 0x80; shift += 7 {
			b = list[pos]
			pos++
			delta |= uint64(b&0x7f) << shift
		}
		t += int64(delta>>1) ^ -int64(delta&1)
		before := p.residuals[t]
		after := before + share
		p.residuals[t] = after
		if math.Abs(after) > limit && math.Abs(before) <= limit {
			p.next = append(p.next, uint32(t))
		}
	}
}
