package batch

import (
	"context"

	"github.com/webindexer/indexer/internal/rank"
)

// solve gives every URL its rank (semantics.md section 6). URLs are numbered in byte
// order, so that the last digits depend on nothing but the links.
func (r *Repository) solve(ctx context.Context) error {
	numbers := make(map[*URL]uint32, len(r.urls))
	nodes := make([]*URL, 0, len(r.urls))
	for u := range r.URLs() {
		numbers[u] = uint32(len(nodes))
		nodes = append(nodes, u)
	}
	targets := make([][]uint32, len(nodes))
	for i, u := range nodes {
		for _, t := range u.Edges() {
			targets[i] = append(targets[i], numbers[r.urls[t]])
		}
	}
	g, err := rank.Build(len(nodes), func(yield func(from, to uint32) bool) {
		for i, list := range targets {
			for _, to := range list {
				if !yield(uint32(i), to) {
					return
				}
			}
		}
	})
	if err != nil {
		return err
	}
	solved, err := rank.Solve(ctx, g, rank.Options{})
	if err != nil {
		return err
	}
	for i, u := range nodes {
		u.Rank = solved.Ranks[i]
	}
	return nil
}
