package rank

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"
)

// chunkNodes is how many nodes a chunk of a graph has: the unit of parallel work,
// and of memory.
const chunkNodes = 1 << 12

// Graph is a directed graph without parallel edges. For each node, in order, it
// holds the sources of the edges to it: their number, and their differences, as
// unsigned varints. Sources with close numbers take one byte each, as most do if URLs
// are numbered by site.
type Graph struct {
	nodes  int
	edges  int
	out    []uint32 // out-degree of each node
	chunks [][]byte // of chunkNodes nodes each, the last one fewer
}

// Edges yields the edges of a graph as (source, target), in any order, each once. It
// is called twice and must yield the same both times.
type Edges iter.Seq2[uint32, uint32]

// maxNodes: node numbers are 32 bits wide.
const maxNodes int64 = math.MaxUint32

// Build builds a graph with nodes 0 to n-1. While it runs, it needs 4 bytes for each edge
// and 8 for each node in addition to the graph itself. It fails if there are too many
// nodes, or an edge to or from a node that does not exist.
func Build(n int, edges Edges) (*Graph, error) {
	if n < 0 || int64(n) > maxNodes {
		return nil, fmt.Errorf("rank: build a graph of %d nodes: at most %d can be numbered", n, maxNodes)
	}
	g := &Graph{nodes: n, out: make([]uint32, n)}
	ends, err := g.count(edges)
	if err != nil {
		return nil, err
	}
	sources := make([]uint32, g.edges)
	filled := 0
	for from, to := range edges {
		if filled++; filled > g.edges || ends[to] == 0 {
			return nil, fmt.Errorf("rank: build a graph: the edges differ between the two passes")
		}
		ends[to]--
		sources[ends[to]] = from
	}
	if filled != g.edges {
		return nil, fmt.Errorf("rank: build a graph: %d edges in the first pass, and %d in the second", g.edges, filled)
	}
	// Each node's sources have been filled in from its end down: ends are starts now.
	g.pack(ends, sources)
	return g, nil
}

// count counts degrees, and returns for each node where the sources of its edges end
// in a list of all.
func (g *Graph) count(edges Edges) ([]uint64, error) {
	ends := make([]uint64, g.nodes)
	for from, to := range edges {
		if int64(from) >= int64(g.nodes) || int64(to) >= int64(g.nodes) {
			return nil, fmt.Errorf("rank: build a graph: edge %d → %d among %d nodes", from, to, g.nodes)
		}
		g.out[from]++
		ends[to]++
		g.edges++
	}
	sum := uint64(0)
	for i, n := range ends {
		sum += n
		ends[i] = sum
	}
	return ends, nil
}

// pack compresses the sources of each node; starts says where they begin.
func (g *Graph) pack(starts []uint64, sources []uint32) {
	buf := make([]byte, 0, 1<<16)
	for first := 0; first < g.nodes; first += chunkNodes {
		buf = buf[:0]
		for u := first; u < min(first+chunkNodes, g.nodes); u++ {
			end := uint64(len(sources))
			if u+1 < g.nodes {
				end = starts[u+1]
			}
			buf = packSources(buf, sources[starts[u]:end])
		}
		g.chunks = append(g.chunks, slices.Clone(buf))
	}
}

func packSources(buf []byte, sources []uint32) []byte {
	slices.Sort(sources)
	buf = binary.AppendUvarint(buf, uint64(len(sources)))
	last := uint32(0)
	for _, s := range sources {
		buf = binary.AppendUvarint(buf, uint64(s-last))
		last = s
	}
	return buf
}

// Nodes returns the number of nodes.
func (g *Graph) Nodes() int { return g.nodes }

// Edges returns the number of edges.
func (g *Graph) Edges() int { return g.edges }

// OutDegree returns the number of edges from a node.
func (g *Graph) OutDegree(u uint32) int { return int(g.out[u]) }

// Bytes returns the memory that the graph takes.
func (g *Graph) Bytes() int {
	n := 4 * cap(g.out)
	for _, c := range g.chunks {
		n += cap(c)
	}
	return n
}
