package pagerank

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/webindexer/indexer/internal/rank"
)

// Graph is the whole graph with the edges along which ranks were passed, whatever was left for later
// runs. Nodes are numbered in the order of their names: most links stay within a site, so a solve finds
// most of what it reads in the processor's cache. A node takes some 70 bytes, an edge 3, and 4 more
// while the graph is built.
type Graph struct {
	*rank.Graph
	In, Pushed, Ranks []float64 // of each node, as in State

	names *rank.Names
}

// A Node is what is stored of a node.
type Node struct {
	Name    string
	State   State
	Stated  bool                     // whether it has a state
	Targets iter.Seq2[[]byte, error] // of the edges from it; valid until the next node
}

// BuildGraph builds the graph from all nodes, each once, and from the rest of a journal, whose
// states replace those of its nodes. It may read both sequences more than once.
func BuildGraph(nodes iter.Seq2[Node, error], journal iter.Seq2[Change, error]) (*Graph, error) {
	return readGraph(nodes, journal, (*graphBuilder).graph)
}

// readGraph reads the nodes and the journal, and builds a graph of them. If two names have the same
// hash, it reads everything again with other hashes.
func readGraph[G any](nodes iter.Seq2[Node, error], journal iter.Seq2[Change, error], build func(*graphBuilder) (G, error)) (g G, err error) {
	for tries := 1; ; tries++ {
		b := &graphBuilder{g: &Graph{names: rank.NewNames()}, id: newIdentifier()}
		if err = b.read(nodes, journal); err == nil {
			g, err = build(b)
		}
		if !errors.Is(err, rank.ErrSameBits) || tries == 3 { // once in a million years
			return g, err
		}
	}
}

// graphBuilder numbers nodes in the order in which their names first appear, as nodes or as targets,
// and renumbers them at the end. So it reads everything only once, and a node can be a target before
// its state is known.
type graphBuilder struct {
	g       *Graph
	id      *identifier
	ids     []uint64 // of each node
	out     outlists
	facts   []nodeFacts // of each node
	order   []uint32    // nodes with states, in the order of their names
	numbers []uint32    // of the targets of one node
}

type nodeFacts uint8

const (
	stated nodeFacts = 1 << iota // has a state
	linked                       // has edges in some direction
)

func (b *graphBuilder) read(nodes iter.Seq2[Node, error], journal iter.Seq2[Change, error]) error {
	for n, err := range nodes {
		if err == nil {
			err = b.add(&n)
		}
		if err != nil {
			return fmt.Errorf("read the graph of ranks: %w", err)
		}
	}
	for c, err := range journal {
		if err == nil {
			err = b.overlay(&c)
		}
		if err != nil {
			return fmt.Errorf("read the journal of ranks: %w", err)
		}
	}
	if slices.Contains(b.facts, linked) {
		return b.nameWithoutState(nodes)
	}
	return nil
}

// graph builds the graph of what was read.
func (b *graphBuilder) graph() (*Graph, error) {
	order := b.renumber()
	var err error
	b.g.Graph, err = rank.Build(b.g.names.Len(), func(yield func(from, to uint32) bool) {
		for from, targets := range b.out.all() {
			for _, to := range targets {
				if !yield(order[from], order[to]) {
					return
				}
			}
		}
	})
	return b.g, err
}

// renumber numbers the nodes in the order of their names, and returns the new number of each. Nodes
// that only the journal knows come last.
func (b *graphBuilder) renumber() []uint32 {
	const none = math.MaxUint32
	order := slices.Repeat([]uint32{none}, len(b.facts))
	next := uint32(0)
	for _, i := range b.order {
		order[i] = next
		next++
	}
	for i := range order {
		if order[i] == none {
			order[i] = next
			next++
		}
	}
	b.g.names.Renumber(order)
	for _, list := range []*[]float64{&b.g.In, &b.g.Pushed, &b.g.Ranks} {
		moved := make([]float64, len(*list))
		for i, to := range order {
			moved[to] = (*list)[i]
		}
		*list = moved
	}
	ids := make([]uint64, len(b.ids))
	for i, to := range order {
		ids[to] = b.ids[i]
	}
	b.ids = ids
	return order
}

func (b *graphBuilder) number(name []byte) (uint32, error) {
	i, added, err := b.g.names.NumberOrAdd(name)
	if added {
		b.facts, b.ids = append(b.facts, 0), append(b.ids, 0)
		b.g.In, b.g.Pushed, b.g.Ranks = append(b.g.In, 0), append(b.g.Pushed, 0), append(b.g.Ranks, rank.Teleport)
	}
	return i, err
}

func (b *graphBuilder) add(n *Node) error {
	name := []byte(n.Name)
	if n.Stated {
		i, err := b.number(name)
		if err != nil {
			return err
		}
		if b.facts[i]&stated != 0 {
			return fmt.Errorf("%w: %q and another", rank.ErrSameBits, n.Name)
		}
		b.set(i, name, &n.State)
		b.order = append(b.order, i)
	}
	b.numbers = b.numbers[:0]
	for target, err := range n.Targets {
		if err != nil {
			return fmt.Errorf("edges of %q: %w", n.Name, err)
		}
		to, err := b.number(target)
		if err != nil {
			return err
		}
		b.facts[to] |= linked
		b.numbers = append(b.numbers, to)
	}
	if len(b.numbers) == 0 {
		return nil
	}
	from, err := b.number(name)
	if err != nil {
		return err
	}
	b.facts[from] |= linked
	b.out.add(from, b.numbers)
	return nil
}

func (b *graphBuilder) set(i uint32, name []byte, s *State) {
	b.facts[i] |= stated
	b.ids[i] = b.id.of(name)
	b.g.In[i], b.g.Pushed[i], b.g.Ranks[i] = s.In, s.Pushed, s.Rank
}

// overlay applies a change of the journal.
func (b *graphBuilder) overlay(c *Change) error {
	name := []byte(c.Node)
	i, err := b.number(name)
	if err != nil {
		return err
	}
	b.set(i, name, &c.State)
	if c.gone() {
		b.set(i, name, &State{Rank: rank.Teleport})
		b.facts[i] &^= stated
	}
	return nil
}

// nameWithoutState returns an error that names the first node that has edges but no state.
func (b *graphBuilder) nameWithoutState(nodes iter.Seq2[Node, error]) error {
	without := func(name []byte) bool {
		i, known := b.g.Number(string(name))
		return known && b.facts[i] == linked
	}
	for n, err := range nodes {
		if err != nil {
			return fmt.Errorf("read the graph of ranks: %w", err)
		}
		for target, err := range n.Targets {
			switch {
			case err != nil:
				return fmt.Errorf("read the graph of ranks: %w", err)
			case without([]byte(n.Name)):
				return fmt.Errorf("%w: %q has edges and no state", ErrInconsistent, n.Name)
			case without(target):
				return fmt.Errorf("%w: %q has an edge from %q and no state", ErrInconsistent, target, n.Name)
			}
		}
	}
	return fmt.Errorf("%w: a node has edges and no state", ErrInconsistent)
}

// Number returns the number of a node, or false if the node has no edges in either direction.
func (g *Graph) Number(node string) (uint32, bool) { return g.names.Number(node) }

// Rank returns the rank of a node from a list of ranks by number. A node that is not in
// the graph has the rank of a node without inlinks.
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

// all yields the nodes with edges, with their targets, which are valid until the next node.
func (o *outlists) all() iter.Seq2[uint32, []uint32] {
	return func(yield func(uint32, []uint32) bool) {
		var targets []uint32
		for _, b := range o.blocks {
			for len(b) > 0 {
				from, n := binary.Uvarint(b)
				count, m := binary.Uvarint(b[n:])
				b = b[n+m:]
				targets = targets[:0]
				last := int64(0)
				for range count {
					d, n := binary.Varint(b)
					b = b[n:]
					last += d
					targets = append(targets, uint32(last))
				}
				if !yield(uint32(from), targets) {
					return
				}
			}
		}
	}
}
