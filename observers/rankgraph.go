package observers

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"

	"indexer/internal/rank"
	"indexer/schema"
	"indexer/txn"
)

// RankGraph is the link graph as the ranks of a snapshot were passed along it, whatever
// was waiting: URLs with edges here or from here, numbered in the order of their rows.
type RankGraph struct {
	*rank.Graph
	In, Pushed, Ranks []float64 // of each URL, as in schema.StoredRankState

	names *rank.Names
}

// ReadRankGraph reads it, in two scans of the rank rows. For a URL it takes some
// 70 bytes, for an edge 3, and 4 more while it is built.
func ReadRankGraph(ctx context.Context, tx *txn.Txn) (*RankGraph, error) {
	for tries := 1; ; tries++ {
		g, err := readRankGraph(ctx, tx)
		if !errors.Is(err, rank.ErrSameBits) || tries == 3 { // once in a million years
			return g, err
		}
	}
}

func readRankGraph(ctx context.Context, tx *txn.Txn) (*RankGraph, error) {
	g := &RankGraph{names: rank.NewNames()}
	err := VisitRankStates(ctx, tx, func(row string, m schema.StoredRankState) error {
		g.In, g.Pushed, g.Ranks = append(g.In, m.In), append(g.Pushed, m.Pushed), append(g.Ranks, m.Rank)
		_, err := g.names.Add(row)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the ranks: %w", err)
	}
	var out outlists
	err = visitEdges(ctx, tx, func(row string, e schema.StoredEdges) error {
		from, ok := g.names.Number(row)
		if !ok {
			return fmt.Errorf("edges of a URL without a rank: %w", errInconsistent)
		}
		numbers := make([]uint32, len(e.Targets))
		for i, t := range e.Targets {
			if numbers[i], ok = g.names.Number(t); !ok {
				return fmt.Errorf("an edge to %s, which has no rank: %w", t, errInconsistent)
			}
		}
		out.add(from, numbers)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the edges of ranks: %w", err)
	}
	g.Graph, err = rank.Build(g.names.Len(), rank.Edges(out.all()))
	return g, err
}

var errInconsistent = errors.New("the ranks contradict each other; `indexer verify` tells more")

// visitEdges calls fn for the edges of all URLs that have some, by row.
func visitEdges(ctx context.Context, tx *txn.Txn, fn func(row string, e schema.StoredEdges) error) error {
	return tx.Scan(ctx, schema.GroupRank, "", "", func(row string, cols []txn.Version) error {
		e, err := schema.EdgesIn(cols)
		if err == nil && len(e.Targets) > 0 {
			err = fn(row, e)
		}
		if err != nil {
			return fmt.Errorf("%q: %w", row, err)
		}
		return nil
	})
}

// Number is the number of a URL's row, false if it has neither edges here nor from here.
func (g *RankGraph) Number(row string) (uint32, bool) { return g.names.Number(row) }

// Rank is what one of several ranks for all URLs says of a URL: that of nowhere for
// one that is not in the graph.
func (g *RankGraph) Rank(ranks []float64, row string) float64 {
	if i, ok := g.names.Number(row); ok {
		return ranks[i]
	}
	return rank.Teleport
}

// Residuals are the sum of what all URLs have not passed on, and the greatest.
func (g *RankGraph) Residuals() (sum, greatest float64) {
	for i, in := range g.In {
		if g.OutDegree(uint32(i)) > 0 {
			r := math.Abs(rank.Teleport + rank.Damping*in - g.Pushed[i])
			sum, greatest = sum+r, max(greatest, r)
		}
	}
	return sum, greatest
}

// outlists are the targets of nodes, compressed, in blocks that need not move to grow.
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
