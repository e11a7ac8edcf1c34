package observers

import (
	"context"
	"fmt"
	"math"

	"indexer/internal/rank"
	"indexer/schema"
	"indexer/txn"
)

// waveRows are the URLs that a run of rank holds, numbered as they are met. Of
// each it takes some 60 bytes, its row, and 4 for each edge from it that was read.
type waveRows struct {
	tx    *txn.Txn
	names *rank.Names
	rows  []byte // all of them, in the order of their numbers
	nodes []waveNode
	edges []int32 // of those that were read, node by node
}

// waveNode is a URL with its mass. (schema.StoredRankState is twice as large.)
type waveNode struct {
	in, spread, rank float64
	inlinks, out     uint32
	row              uint32 // where its row begins in rows
	first            uint32 // where its targets begin in edges, notRead
	level            int8   // where it waits in levels, -1 if nowhere
	changed          bool   // is to be written
	woken            bool
	linked           bool // it has got its first link
	moved            bool // its rank is published anew
	left             bool // above the bound, and there is no room for its targets
}

// notRead says that the targets of a node were not read.
const notRead = math.MaxUint32

func newWaveRows(tx *txn.Txn) waveRows {
	return waveRows{tx: tx, names: rank.NewNames()}
}

// row is the row of a node.
func (r *waveRows) row(i int32) string { return string(r.rowBytes(i)) }

func (r *waveRows) rowBytes(i int32) []byte {
	end := uint32(len(r.rows))
	if int(i)+1 < len(r.nodes) {
		end = r.nodes[i+1].row
	}
	return r.rows[r.nodes[i].row:end]
}

// node is the number of a row's node, which is read when it is met for the first time.
func (r *waveRows) node(ctx context.Context, row string) (int32, error) {
	if i, ok := r.names.Number(row); ok {
		if string(r.rowBytes(int32(i))) != row {
			return 0, fmt.Errorf("%w: %q and another", rank.ErrSameBits, row) // a run of other bits follows
		}
		return int32(i), nil
	}
	v, err := r.tx.GetOnce(ctx, row, schema.RankState)
	if err != nil {
		return 0, err
	}
	m, err := schema.DecodeRankState(v.Data)
	if err != nil {
		return 0, err
	}
	i, err := r.names.Add(row)
	if err != nil {
		return 0, err
	}
	r.nodes = append(r.nodes, waveNode{
		in: m.In, spread: m.Pushed, rank: m.Rank, inlinks: uint32(m.Inlinks), out: uint32(m.Out),
		row: uint32(len(r.rows)), first: notRead, level: -1,
	})
	r.rows = append(r.rows, row...)
	return int32(i), nil
}

// mass is what a node has by now.
func (n *waveNode) mass() schema.StoredRankState {
	return schema.StoredRankState{Inlinks: int(n.inlinks), In: n.in, Out: int(n.out), Pushed: n.spread, Rank: n.rank}
}

func (n *waveNode) estimate() float64 { m := n.mass(); return m.Estimate() }

// residual is the absolute of it.
func (n *waveNode) residual() float64 { m := n.mass(); return math.Abs(m.Residual()) }

// reach reads the targets of a node.
func (r *waveRows) reach(ctx context.Context, i int32) error {
	if r.nodes[i].first != notRead {
		return nil
	}
	edges, _, err := r.readEdges(ctx, r.row(i))
	if err != nil {
		return err
	}
	if len(edges.Targets) != int(r.nodes[i].out) {
		return fmt.Errorf("%q has %d edges, and %d according to its mass: %w", r.row(i), len(edges.Targets), r.nodes[i].out, errInconsistent)
	}
	first := len(r.edges)
	for _, row := range edges.Targets {
		t, err := r.node(ctx, row)
		if err != nil {
			return err
		}
		r.edges = append(r.edges, t)
	}
	r.nodes[i].first = uint32(first)
	return nil
}

// targets of a node that was reached.
func (r *waveRows) targets(i int32) []int32 {
	n := &r.nodes[i]
	return r.edges[n.first : n.first+n.out]
}

// readEdges reads the edges of a URL, and how many parts they have.
func (r *waveRows) readEdges(ctx context.Context, row string) (edges schema.StoredEdges, parts int, err error) {
	for further := 0; parts <= further; parts++ {
		v, err := r.tx.GetOnce(ctx, row, schema.Part(schema.Edges, parts))
		if err != nil {
			return edges, 0, err
		}
		if parts == 0 && !v.Exists {
			return edges, 0, nil
		}
		part, more, err := schema.DecodeEdgePart(v.Data)
		if err != nil {
			return edges, 0, err
		}
		if parts == 0 {
			edges, further = part, more
		} else {
			edges.Targets = append(edges.Targets, part.Targets...)
		}
	}
	return edges, parts, nil
}
