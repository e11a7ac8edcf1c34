package pagerank

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/webindexer/indexer/internal/rank"
)

// Graph is the whole graph as ranks were passed along it, whatever was left for later runs.
// Nodes are numbered in the order of their names. A node takes some 70 bytes, an edge 3,
// and 4 more while the graph is built.
type Graph struct {
	*rank.Graph
	In, Pushed, Ranks []float64 // of each node, as in State

	names *rank.Names
}

// Edges are the edges from a node.
type Edges struct {
	Node    string
	Targets []string
}

// BuildGraph builds the graph from all states and all edges, each by name. It may read them
// more than once.
func BuildGraph(states iter.Seq2[Change, error], edges iter.Seq2[Edges, error]) (*Graph, error) {
	for tries := 1; ; tries++ {
		g, err := buildGraph(states, edges)
		if !errors.Is(err, rank.ErrSameBits) || tries == 3 { // once in a million years
			return g, err
		}
	}
}

func buildGraph(states iter.Seq2[Change, error], edges iter.Seq2[Edges, error]) (*Graph, error) {
	g := &Graph{names: rank.NewNames()}
	for c, err := range states {
		if err == nil {
			_, err = g.names.Add(c.Node)
		}
		if err != nil {
			return nil, fmt.Errorf("read the ranks: %w", err)
		}
		g.In, g.Pushed, g.Ranks = append(g.In, c.State.In), append(g.Pushed, c.State.Pushed), append(g.Ranks, c.State.Rank)
	}
	var out outlists
	for e, err := range edges {
		if err == nil {
			err = g.addEdges(&out, e)
		}
		if err != nil {
			return nil, fmt.Errorf("read the edges of ranks: %w", err)
		}
	}
	var err error
	g.Graph, err = rank.Build(g.names.Len(), rank.Edges(out.all()))
	return g, err
}

func (g *Graph) addEdges(out *outlists, e Edges) error {
	from, ok := g.names.Number(e.Node)
	if !ok {
		return fmt.Errorf("%w: %q has edges and no state", ErrInconsistent, e.Node)
	}
	numbers := make([]uint32, len(e.Targets))
	for i, t := range e.Targets {
		if numbers[i], ok = g.names.Number(t); !ok {
			return fmt.Errorf("%w: %q has an edge from %q and no state", ErrInconsistent, t, e.Node)
		}
	}
	out.add(from, numbers)
	return nil
}

// Number returns the number of a node, or false if it has no edges in either direction.
func (g *Graph) Number(node string) (uint32, bool) { return g.names.Number(node) }

// Rank returns what a list of ranks by number says about a node. A node that is not in the
// graph has the rank of a node without inlinks.
func (g *Graph) Rank(ranks []float64, node string) float64 {
	if i, ok := g.names.Number(node); ok {
		return ranks[i]
	}
	return rank.Teleport
}

// Residuals returns the sum and the largest of the residuals.
func (g *Graph) Residuals() (sum, largest float64) {
	for i, in := range g.In {
		if g.OutDegree(uint32(i)) > 0 {
			r := math.Abs(rank.Teleport + rank.Damping*in - g.Pushed[i])
			sum, largest = sum+r, max(largest, r)
		}
	}
	return sum, largest
}

// outlists are lists of targets, compressed, in blocks that need not move to grow.
type outlists struct {
	blocks [][]byte
}

const outlistBlock = 1 << 20

func (o *outlists) add(from uint32, targets []uint32) {
	n := len(o.blocks)
	if n == 0 || len(o.blocks[n-1]) >= outlistBlock {
		o.blocks = append(o.blocks, make([]byte, 0, outlistBlock+outlistBlock/8))
		n++
	}
	b := binary.AppendUvarint(o.blocks[n-1], uint64(from))
	b = binary.AppendUvarint(b, uint64(len(targets)))
	last := int64(0)
	for _, t := range targets {
		b = binary.AppendVarint(b, int64(t)-last)
		last = int64(t)
	}
	o.blocks[n-1] = b
}

// all yields every edge.
func (o *outlists) all() iter.Seq2[uint32, uint32] {
	return func(yield func(from, to uint32) bool) {
		for _, b := range o.blocks {
			for len(b) > 0 {
				from, n := binary.Uvarint(b)
				count, m := binary.Uvarint(b[n:])
				b = b[n+m:]
				last := int64(0)
				for range count {
					d, n := binary.Varint(b)
					b = b[n:]
					last += d
					if !yield(uint32(from), uint32(last)) {
						return
					}
				}
			}
		}
	}
}
