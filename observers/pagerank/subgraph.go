package pagerank

import (
	"context"
	"fmt"
	"math"

	"github.com/webindexer/indexer/internal/rank"
)

// Reader reads the graph as the last run left it.
type Reader interface {
	// State returns the state of a node, and NoState if none is stored.
	State(ctx context.Context, node string) (State, error)
	// Targets returns the nodes to which the edges of a node lead.
	Targets(ctx context.Context, node string) ([]string, error)
	// ReadAhead announces that the run is likely to read the targets of these nodes next, and
	// the states of the targets that are not known yet. Only a run with Limits.Ahead calls it.
	ReadAhead(ctx context.Context, nodes []string, known func(node string) bool) error
}

// subgraph is the part of the graph that a run holds in memory. Nodes are numbered in the
// order in which the run reaches them. Each takes some 60 bytes, its name, and 4 bytes
// for each edge from it that was read.
type subgraph struct {
	reader  Reader
	numbers *rank.Names
	names   []byte // of all nodes, by number
	nodes   []node
	edges   []int32 // from the nodes whose targets were read, node by node
}

// node is a node with its state. (State is twice as large.)
type node struct {
	in, pushed, rank float64
	inlinks, out     uint32
	name             uint32 // where its name begins in names
	first            uint32 // where its targets begin in edges, or notRead
	level            int8   // where it waits in levels, or -1
	changed          bool   // its state has to be written
	updated          bool   // it was given to Update
	linked           bool   // it has got its first inlink
	moved            bool   // its rank is published again
	again            bool   // its residual exceeds the bound, and there is no room to push it
}

// notRead marks a node whose targets have not been read.
const notRead = math.MaxUint32

func (s *subgraph) name(i int32) string { return string(s.nameBytes(i)) }

func (s *subgraph) nameBytes(i int32) []byte {
	end := uint32(len(s.names))
	if int(i)+1 < len(s.nodes) {
		end = s.nodes[i+1].name
	}
	return s.names[s.nodes[i].name:end]
}

// Known reports whether the state of a node has been read.
func (s *subgraph) Known(name string) bool {
	_, ok := s.numbers.Number(name)
	return ok
}

// number returns the number of a node. If the node is new, it reads its state.
func (s *subgraph) number(ctx context.Context, name string) (int32, error) {
	if i, ok := s.numbers.Number(name); ok {
		if string(s.nameBytes(int32(i))) != name {
			return 0, fmt.Errorf("%w: %q and another", rank.ErrSameBits, name) // the next run has other bits
		}
		return int32(i), nil
	}
	state, err := s.reader.State(ctx, name)
	if err != nil {
		return 0, fmt.Errorf("rank state of %q: %w", name, err)
	}
	i, err := s.numbers.Add(name)
	if err != nil {
		return 0, err
	}
	s.nodes = append(s.nodes, node{
		in: state.In, pushed: state.Pushed, rank: state.Rank, inlinks: uint32(state.Inlinks), out: uint32(state.Out),
		name: uint32(len(s.names)), first: notRead, level: -1,
	})
	s.names = append(s.names, name...)
	return int32(i), nil
}

// readTargets reads the targets of a node.
func (s *subgraph) readTargets(ctx context.Context, i int32) error {
	if s.nodes[i].first != notRead {
		return nil
	}
	targets, err := s.reader.Targets(ctx, s.name(i))
	if err != nil {
		return fmt.Errorf("edges of %q: %w", s.name(i), err)
	}
	if len(targets) != int(s.nodes[i].out) {
		return fmt.Errorf("%w: %q has %d edges, and %d by its state", ErrInconsistent, s.name(i), len(targets), s.nodes[i].out)
	}
	first := len(s.edges)
	for _, name := range targets {
		t, err := s.number(ctx, name)
		if err != nil {
			return err
		}
		s.edges = append(s.edges, t)
	}
	s.nodes[i].first = uint32(first)
	return nil
}

// targets returns the targets of a node after readTargets.
func (s *subgraph) targets(i int32) []int32 {
	n := &s.nodes[i]
	return s.edges[n.first : n.first+n.out]
}

func (n *node) state() State {
	return State{Inlinks: int(n.inlinks), In: n.in, Out: int(n.out), Pushed: n.pushed, Rank: n.rank}
}

func (n *node) estimate() float64 { return rank.Estimate(int(n.inlinks), n.in) }

// residual returns the absolute value of the residual.
func (n *node) residual() float64 {
	if n.out == 0 {
		return 0
	}
	return math.Abs(n.estimate() - n.pushed)
}
