package verify

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/webindexer/indexer/observers/pagerank"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify/batch"
)

// compareRanks compares the ranks with those of a full solve, and checks that rank states
// are consistent (invariant 6; the invariants of observers/rank.go):
//
//   - rank was passed along exactly the edges that are links;
//   - each URL has received what its sources passed on;
//   - no residual exceeds the bound;
//   - no published rank, and no rank that the index shows, is off by more than the
//     tolerance.
func (v *verifier) compareRanks(ctx context.Context) error {
	nodes := make(rankNodes)
	err := v.scan(ctx, schema.GroupRank, func(row string, cols []txn.Version) error {
		if err := v.compareRankRow(nodes, row, cols); err != nil {
			return fmt.Errorf("%s: %w", readableURL(row), err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	v.compareRankStates(nodes)
	for u := range v.batch.URLs() {
		n := nodes[schema.URLRow(u.URL)]
		if n == nil {
			n = &rankNode{}
		}
		if n.out == 0 {
			v.compareEdges(u, nil)
		}
		m := schema.NoRankState
		if n.stated {
			m = n.state
		}
		v.rep.Checked["ranks"]++
		v.sameRank(schema.GroupRank, string(u.URL), schema.RankState.Name+" (rank)", m.Rank, u.Rank)
	}
	return nil
}

// rankNode is what the rank rows say about a URL: its state, how many edges it has, and what has
// been passed on along the edges to it.
type rankNode struct {
	state   schema.StoredRankState
	stated  bool
	out     int
	in      float64
	inlinks int
}

// rankNodes has nodes by their rows. Edges are compared as they are scanned, and not kept: there
// are many more of them.
type rankNodes map[string]*rankNode

func (nodes rankNodes) at(row string) *rankNode {
	n := nodes[row]
	if n == nil {
		n = new(rankNode)
		nodes[row] = n
	}
	return n
}

func (v *verifier) compareRankRow(nodes rankNodes, row string, cols []txn.Version) (err error) {
	n := nodes.at(row)
	var edges schema.StoredEdges
	for _, c := range cols {
		switch c.Name {
		case schema.RankState.Name:
			n.stated = true
			n.state, err = schema.DecodeRankState(c.Data)
		case schema.Edges.Name:
			edges, err = schema.EdgesIn(cols)
		default:
			if _, ok := schema.PartNumber(schema.Edges, c.Name); ok && !isPart(schema.Edges, c.Name, cols) {
				v.rep.add(schema.GroupRank, readableURL(row), c.Name, noList, "")
			}
		}
		if err != nil {
			return err
		}
	}
	n.out = len(edges.Targets)
	for _, t := range edges.Targets {
		to := nodes.at(t)
		to.in += n.state.Pushed / float64(n.out)
		to.inlinks++
	}
	if n.out == 0 { // like a URL without a row
		return nil
	}
	u, err := schema.ParseURLRow(row)
	if err != nil {
		return err
	}
	if known := v.batch.URL(u); known != nil {
		v.compareEdges(known, edges.Targets)
	} else {
		v.rep.add(schema.GroupRank, string(u), schema.Edges.Name, fmt.Sprintf("%q", edges.Targets), "")
	}
	return nil
}

// compareEdges compares the stored edges of a URL with its links or its redirect.
func (v *verifier) compareEdges(u *batch.URL, stored []string) {
	targets := u.Edges()
	want := make([]string, len(targets))
	for i, t := range targets {
		want[i] = schema.URLRow(t)
	}
	slices.Sort(want)
	v.rep.Checked["rank_edges"] += len(want)
	if !slices.Equal(stored, want) {
		v.rep.add(schema.GroupRank, string(u.URL), schema.Edges.Name, fmt.Sprintf("%q", stored), fmt.Sprintf("%q", want))
	}
}

// rounding is the relative error that a sum may have after many additions.
const rounding = 1e-9

// sameRank reports a rank that is off by more than the tolerance.
func (v *verifier) sameRank(table, row, column string, stored, computed float64) {
	if !(math.Abs(stored-computed) <= (v.tolerance+rounding)*computed) { // also if one is NaN
		v.rep.add(table, row, column, fmt.Sprint(stored), fmt.Sprintf("%v within %g of it", computed, v.tolerance))
	}
}

// compareRankStates compares the states with the edges, and with what was passed on along them.
func (v *verifier) compareRankStates(nodes rankNodes) {
	bound, sum, states := pagerank.ResidualBound(v.tolerance), 0.0, 0
	for _, row := range slices.Sorted(maps.Keys(nodes)) {
		n, u := nodes[row], readableURL(row)
		if !n.stated {
			if n.inlinks > 0 {
				v.rep.add(schema.GroupRank, u, schema.RankState.Name, "", fmt.Sprintf("%d inlinks", n.inlinks))
			}
			continue
		}
		states++
		m := &n.state
		v.rep.same(schema.GroupRank, u, schema.RankState.Name+" (inlinks)", fmt.Sprint(m.Inlinks), fmt.Sprint(n.inlinks))
		v.rep.same(schema.GroupRank, u, schema.RankState.Name+" (edges)", fmt.Sprint(m.Out), fmt.Sprint(n.out))
		if !(math.Abs(m.In-n.in) <= rounding*(1+n.in)) {
			v.rep.add(schema.GroupRank, u, schema.RankState.Name+" (in)", fmt.Sprint(m.In), fmt.Sprint(n.in))
		}
		if r := math.Abs(m.Residual()); !(r <= bound) {
			v.rep.add(schema.GroupRank, u, schema.RankState.Name+" (residual)", fmt.Sprint(r), fmt.Sprintf("at most %g", bound))
		} else {
			sum += r
		}
		if m.Inlinks == 0 && m.Out == 0 {
			v.rep.add(schema.GroupRank, u, schema.RankState.Name, "a row without edges", "")
		}
	}
	v.rep.ResidualSum, v.rep.ResidualBound = sum, bound*float64(states)
}
