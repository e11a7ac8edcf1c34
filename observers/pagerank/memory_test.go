package pagerank

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/webindexer/indexer/internal/rank"
)

// memory is a graph in maps: what a caller of this package keeps in its table.
type memory struct {
	states  map[string]State
	edges   map[string][]string
	journal [][]Change
	again   map[string]bool
	most    int             // Limits.Ahead of the run
	ahead   map[string]bool // whose edges the run has had read ahead last
	used    int             // how often that was of use
}

func newMemory() *memory {
	return &memory{states: make(map[string]State), edges: make(map[string][]string), again: make(map[string]bool)}
}

func (m *memory) State(_ context.Context, node string) (State, error) {
	if s, ok := m.states[node]; ok {
		return s, nil
	}
	return NoState, nil
}

func (m *memory) Targets(_ context.Context, node string) ([]string, error) {
	if m.most > 0 && !m.ahead[node] {
		return nil, fmt.Errorf("the edges of %s were not read ahead", node)
	}
	if len(m.ahead) > 1 {
		m.used++
	}
	delete(m.ahead, node)
	return m.edges[node], nil
}

// ReadAhead checks what a run asks for.
func (m *memory) ReadAhead(_ context.Context, nodes []string, known func(node string) bool) error {
	m.ahead = make(map[string]bool)
	for _, node := range nodes {
		if m.ahead[node] || !known(node) || len(m.edges[node]) == 0 {
			return fmt.Errorf("%s is read ahead twice, or has no edges", node)
		}
		m.ahead[node] = true
	}
	if len(nodes) == 0 || len(nodes) > m.most {
		return fmt.Errorf("the edges of %d nodes are read ahead", len(nodes))
	}
	return nil
}

func (m *memory) apply(changes []Change) {
	for _, c := range changes {
		if m.states[c.Node] = c.State; c.gone() {
			delete(m.states, c.Node)
		}
		if c.Again {
			m.again[c.Node] = true
		}
	}
}

// applyPart applies the first part of the journal.
func (m *memory) applyPart() {
	m.apply(m.journal[0])
	m.journal = m.journal[1:]
}

// update begins a run in which some nodes get new targets. The nodes for which it has no
// room are returned.
func (m *memory) update(ctx context.Context, tolerance float64, limits Limits, now map[string][]string) (*Run, []string, error) {
	run := NewRun(m, tolerance, limits.Within(math.MaxInt64))
	m.most, m.ahead = limits.Ahead, nil
	nodes := slices.Sorted(maps.Keys(now))
	for i, node := range nodes {
		if run.Full() {
			return run, nodes[i:], nil
		}
		targets := slices.Compact(slices.Sorted(slices.Values(now[node])))
		if _, err := run.Update(ctx, node, 0, m.edges[node], targets); err != nil {
			return nil, nil, err
		}
		if m.edges[node] = targets; len(targets) == 0 {
			delete(m.edges, node)
		}
	}
	return run, nil, nil
}

// finish pushes and keeps what has changed, as a journal if there is too much.
func (m *memory) finish(ctx context.Context, run *Run) error {
	if err := run.Push(ctx); err != nil {
		return err
	}
	parts, direct := run.Finish()
	m.journal = slices.Collect(parts)
	for direct && len(m.journal) > 0 {
		m.applyPart()
	}
	return nil
}

func (m *memory) stored() iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		for _, node := range slices.Sorted(maps.Keys(m.states)) {
			if !yield(Change{Node: node, State: m.states[node]}, nil) {
				return
			}
		}
	}
}

func (m *memory) left() iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		for _, part := range m.journal {
			for _, c := range part {
				if !yield(c, nil) {
					return
				}
			}
		}
	}
}

// nodes yields the edges of all nodes, with those of the states that there are.
func (m *memory) nodes(states iter.Seq2[Change, error]) iter.Seq2[Node, error] {
	return func(yield func(Node, error) bool) {
		known := make(map[string]State)
		for c, err := range states {
			if err != nil {
				yield(Node{}, err)
				return
			}
			known[c.Node] = c.State
		}
		names := slices.AppendSeq(slices.Collect(maps.Keys(known)), maps.Keys(m.edges))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			n := Node{Name: name, Targets: func(yield func([]byte, error) bool) {
				for _, target := range m.edges[name] {
					if !yield([]byte(target), nil) {
						return
					}
				}
			}}
			s, ok := known[name]
			n.State, n.Stated = s, ok
			if !yield(n, nil) {
				return
			}
		}
	}
}

// rounding is what sums may be off by after many additions, relatively.
const rounding = 1e-9

// check checks the graph against the invariants of the package. At rest, when no work
// is left for a further run, it also compares the ranks with a full solve.
func (m *memory) check(t *testing.T, tolerance float64, rest bool) error {
	g, err := BuildGraph(m.nodes(m.stored()), m.left())
	if err != nil {
		return err
	}
	in, err := g.Inflows(t.Context(), g.Pushed)
	if err != nil {
		return err
	}
	exact := &rank.Solution{}
	if rest {
		if exact, err = rank.Solve(t.Context(), g.Graph, rank.Options{Tolerance: 1e-12}); err != nil {
			return err
		}
	}
	inlinks := make(map[string]int)
	for _, targets := range m.edges {
		for _, target := range targets {
			inlinks[target]++
		}
	}
	for c, err := range Overlay(m.stored(), m.left()) {
		if err != nil {
			return err
		}
		i, _ := g.Number(c.Node)
		s, estimate := c.State, rank.Estimate(c.State.Inlinks, c.State.In)
		residual := math.Abs(estimate - s.Pushed)
		switch {
		case s.Inlinks != inlinks[c.Node] || s.Out != len(m.edges[c.Node]) || c.gone():
			return fmt.Errorf("%q has %+v, but %d inlinks and %d edges", c.Node, s, inlinks[c.Node], len(m.edges[c.Node]))
		case math.Abs(s.In-in[i]) > rounding*(1+in[i]):
			return fmt.Errorf("in of %q is %v, but its sources pass on %v", c.Node, s.In, in[i])
		case math.Abs(s.Rank-estimate) > tolerance/4*s.Rank+rounding, s.Inlinks == 0 && s.Rank != estimate:
			return fmt.Errorf("rank of %q is %v, but its estimate %v", c.Node, s.Rank, estimate)
		case !rest:
		case s.Out > 0 && residual > ResidualBound(tolerance):
			return fmt.Errorf("residual of %q is %v", c.Node, residual)
		case math.Abs(s.Rank-exact.Ranks[i]) > (tolerance+rounding)*exact.Ranks[i]:
			return fmt.Errorf("rank of %q is %v, and %v by a full solve", c.Node, s.Rank, exact.Ranks[i])
		}
	}
	return nil
}

// broken fails at one node, for either reads.
type broken struct {
	*memory
	node string
}

var errBroken = errors.New("disk on fire")

func (b broken) State(ctx context.Context, node string) (State, error) {
	if node == b.node {
		return State{}, errBroken
	}
	return b.memory.State(ctx, node)
}
