// Package harmonic computes the harmonic centrality of the nodes of a graph: the sum of
// 1/d over the distances d from all other nodes that reach a node (Boldi, Vigna: Axioms
// for Centrality, 2014). Common Crawl orders hosts by it; package feed exports it.
//
// For up to 20,000 nodes the result is exact, by a breadth-first search from every node.
// For larger graphs it is an estimate, with probabilistic counters (Boldi, Vigna: In-Core
// Computation of Geometric Centralities with HyperBall, 2013). Both give the same numbers for
// the same graph on every machine.
package harmonic

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// Graph is a graph as the sources of each node: 4 bytes for an edge, 8 for a node.
type Graph struct {
	starts  []uint64 // where the sources of each node begin; one more than there are nodes
	sources []uint32
}

// MaxNodes bounds a graph.
const MaxNodes = math.MaxUint32

// errEdge is wrapped by the error for an edge that cannot be added.
var errEdge = errors.New("harmonic: an edge out of order")

// Builder makes a graph of edges that come ordered by target, and then by source.
type Builder struct {
	g     Graph
	nodes int
	last  [2]uint32
	any   bool
}

// NewBuilder makes a graph with the given number of nodes, at most MaxNodes.
func NewBuilder(nodes int) *Builder {
	return &Builder{nodes: nodes, g: Graph{starts: make([]uint64, 1, nodes+1)}}
}

// Add adds an edge. One that was there, and one from a node to itself, make no difference.
func (b *Builder) Add(source, target uint32) error {
	edge := [2]uint32{target, source}
	switch {
	case int64(source) >= int64(b.nodes) || int64(target) >= int64(b.nodes):
		return fmt.Errorf("%w: from %d to %d of %d nodes", errEdge, source, target, b.nodes)
	case b.any && (edge[0] < b.last[0] || edge[0] == b.last[0] && edge[1] < b.last[1]):
		return fmt.Errorf("%w: from %d to %d after that from %d to %d", errEdge, source, target, b.last[1], b.last[0])
	case source == target || b.any && edge == b.last:
		return nil
	}
	b.any, b.last = true, edge
	b.upTo(int(target))
	b.g.sources = append(b.g.sources, source)
	return nil
}

// upTo ends the lists of all nodes before one.
func (b *Builder) upTo(node int) {
	for len(b.g.starts) <= node {
		b.g.starts = append(b.g.starts, uint64(len(b.g.sources)))
	}
}

// Graph returns the graph of the edges that were added. The builder must not be used
// afterwards.
func (b *Builder) Graph() *Graph {
	b.upTo(b.nodes)
	return &b.g
}

// Nodes is the number of nodes.
func (g *Graph) Nodes() int { return len(g.starts) - 1 }

func (g *Graph) sourcesOf(node int) []uint32 { return g.sources[g.starts[node]:g.starts[node+1]] }

// exactNodes is the greatest number of nodes for which centralities are exact: some seconds
// of work.
const exactNodes = 20_000

// Centralities returns the centralities of all nodes: exact ones, or estimates. The error is
// that of ctx.
func Centralities(ctx context.Context, g *Graph) ([]float64, error) {
	if g.Nodes() <= exactNodes {
		return exact(ctx, g)
	}
	return estimate(ctx, g, registersFor(g.Nodes()))
}
