package rank

import (
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
)

// OutGraph is a directed graph without parallel edges that can change. For each node it holds
// the targets of its edges: their number and, as varints, their differences, the first one from
// the node itself. A list that is replaced stays in memory; Append leaves it out.
type OutGraph struct {
	lists []byte
	at    []uint64 // where the list of each node begins, never at 0; 0: it has no edges
}

// NewOutGraph returns a graph with nodes 0 to n-1 and no edges.
func NewOutGraph(n int) *OutGraph { return &OutGraph{lists: []byte{0}, at: make([]uint64, n)} }

// Nodes returns the number of nodes.
func (g *OutGraph) Nodes() int { return len(g.at) }

// Add adds a node without edges, and returns its number.
func (g *OutGraph) Add() (uint32, error) {
	if int64(len(g.at)) >= maxNodes-1 {
		return 0, fmt.Errorf("rank: at most %d nodes can be numbered", maxNodes-1)
	}
	g.at = append(g.at, 0)
	return uint32(len(g.at) - 1), nil
}

// Set replaces the edges from a node, and sorts targets.
func (g *OutGraph) Set(u uint32, targets []uint32) {
	if len(targets) == 0 {
		g.at[u] = 0
		return
	}
	slices.Sort(targets)
	g.at[u] = uint64(len(g.lists))
	g.lists = appendList(g.lists, u, targets)
}

func appendList(b []byte, u uint32, targets []uint32) []byte {
	b = binary.AppendUvarint(b, uint64(len(targets)))
	last := int64(u)
	for _, t := range targets {
		b = binary.AppendVarint(b, int64(t)-last)
		last = int64(t)
	}
	return b
}

// list returns how many edges a node has, and the varints of its list.
func (g *OutGraph) list(u uint32) (count int, list []byte) {
	at := g.at[u]
	if at == 0 {
		return 0, nil
	}
	list = g.lists[at:]
	if b := list[0]; b < 0x80 {
		return int(b), list[1:]
	}
	n, size := binary.Uvarint(list)
	return int(n), list[size:]
}

// appendTargets appends the targets of the edges from a node.
func (g *OutGraph) appendTargets(targets []uint32, u uint32) []uint32 {
	count, list := g.list(u)
	last := int64(u)
	for range count {
		delta, n := binary.Varint(list)
		list = list[n:]
		last += delta
		targets = append(targets, uint32(last))
	}
	return targets
}

// Edges yields the nodes that have edges, in ascending order, with their targets, which are
// valid until the next node.
func (g *OutGraph) Edges() iter.Seq2[uint32, []uint32] {
	return func(yield func(uint32, []uint32) bool) {
		var targets []uint32
		for u, at := range g.at {
			if at == 0 {
				continue
			}
			targets = g.appendTargets(targets[:0], uint32(u))
			if !yield(uint32(u), targets) {
				return
			}
		}
	}
}

// Unlinked returns how many nodes have no edges in either direction.
func (g *OutGraph) Unlinked() int {
	linked := make([]bool, len(g.at))
	n := len(g.at)
	link := func(u uint32) {
		if !linked[u] {
			linked[u] = true
			n--
		}
	}
	for u, targets := range g.Edges() {
		link(u)
		for _, t := range targets {
			link(t)
		}
	}
	return n
}

// Append appends the graph to b in a form for DecodeOutGraph: the number of nodes, and the lists
// in the order of their nodes.
func (g *OutGraph) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(g.at)))
	var targets []uint32
	for u, at := range g.at {
		if at == 0 {
			b = append(b, 0)
			continue
		}
		targets = g.appendTargets(targets[:0], uint32(u))
		b = appendList(b, uint32(u), targets)
	}
	return b
}

// DecodeOutGraph reads a graph from the front of b, and returns the rest. It returns false if there is
// none. The graph refers to b, which must not be modified.
func DecodeOutGraph(b []byte) (g *OutGraph, rest []byte, ok bool) {
	nodes, pos := binary.Uvarint(b)
	if pos <= 0 || nodes > uint64(len(b)) { // a node takes a byte at least
		return nil, nil, false
	}
	g = &OutGraph{lists: b, at: make([]uint64, nodes)}
	for u := range g.at {
		count, n := binary.Uvarint(b[pos:])
		if n <= 0 {
			return nil, nil, false
		}
		if count > 0 {
			g.at[u] = uint64(pos)
		}
		pos += n
		for last := int64(u); count > 0; count-- {
			delta, n := binary.Varint(b[pos:])
			if last += delta; n <= 0 || last < 0 || last >= int64(nodes) {
				return nil, nil, false
			}
			pos += n
		}
	}
	return g, b[pos:], true
}
