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
	states := make(map[string]schema.StoredRankState)
	edges := make(map[string][]string)
	err := v.scan(ctx, schema.GroupRank, func(row string, cols []txn.Version) error {
		if err := readRankRow(row, cols, states, edges); err != nil {
			return fmt.Errorf("%s: %w", readableURL(row), err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	v.compareEdges(edges)
	v.compareRankStates(states, edges)
	for u := range v.batch.URLs() {
		m, ok := states[schema.URLRow(u.URL)]
		if !ok {
			m = schema.NoRankState
		}
		v.rep.Checked["ranks"]++
		v.sameRank(schema.GroupRank, string(u.URL), schema.RankState.Name+" (rank)", m.Rank, u.Rank)
	}
	return nil
}

func readRankRow(row string, cols []txn.Version, states map[string]schema.StoredRankState, edges map[string][]string) (err error) {
	for _, c := range cols {
		switch c.Name {
		case schema.RankState.Name:
			states[row], err = schema.DecodeRankState(c.Data)
		case schema.Edges.Name:
			var e schema.StoredEdges
			e, err = schema.EdgesIn(cols)
			edges[row] = e.Targets
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rounding is the relative error that a sum may have after many additions.
const rounding = 1e-9

// sameRank reports a rank that is off by more than the tolerance.
func (v *verifier) sameRank(table, row, column string, stored, computed float64) {
	if !(math.Abs(stored-computed) <= (v.tolerance+rounding)*computed) { // also of NaN
		v.rep.add(table, row, column, fmt.Sprint(stored), fmt.Sprintf("%v within %g of it", computed, v.tolerance))
	}
}

// compareEdges compares the stored edges with the links and redirects.
func (v *verifier) compareEdges(edges map[string][]string) {
	unknown := make(map[string]bool, len(edges))
	for row := range edges {
		unknown[row] = true
	}
	for u := range v.batch.URLs() {
		row := schema.URLRow(u.URL)
		delete(unknown, row)
		targets := u.Edges()
		want := make([]string, len(targets))
		for i, t := range targets {
			want[i] = schema.URLRow(t)
		}
		slices.Sort(want)
		v.rep.Checked["rank_edges"] += len(want)
		if got := edges[row]; !slices.Equal(got, want) {
			v.rep.add(schema.GroupRank, string(u.URL), schema.Edges.Name, fmt.Sprintf("%q", got), fmt.Sprintf("%q", want))
		}
	}
	for _, row := range slices.Sorted(maps.Keys(unknown)) {
		v.rep.add(schema.GroupRank, readableURL(row), schema.Edges.Name, fmt.Sprintf("%q", edges[row]), "")
	}
}

// compareRankStates adds up the rank that every URL has passed on.
func (v *verifier) compareRankStates(states map[string]schema.StoredRankState, edges map[string][]string) {
	in, inlinks := make(map[string]float64, len(states)), make(map[string]int, len(states))
	for row, targets := range edges {
		for _, t := range targets {
			in[t] += states[row].Pushed / float64(len(targets))
			inlinks[t]++
		}
	}
	bound, sum := pagerank.ResidualBound(v.tolerance), 0.0
	for _, row := range slices.Sorted(maps.Keys(states)) {
		m := states[row]
		u := readableURL(row)
		v.rep.same(schema.GroupRank, u, schema.RankState.Name+" (inlinks)", fmt.Sprint(m.Inlinks), fmt.Sprint(inlinks[row]))
		v.rep.same(schema.GroupRank, u, schema.RankState.Name+" (edges)", fmt.Sprint(m.Out), fmt.Sprint(len(edges[row])))
		if !(math.Abs(m.In-in[row]) <= rounding*(1+in[row])) {
			v.rep.add(schema.GroupRank, u, schema.RankState.Name+" (in)", fmt.Sprint(m.In), fmt.Sprint(in[row]))
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
	v.rep.ResidualSum, v.rep.ResidualBound = sum, bound*float64(len(states))
	for _, row := range slices.Sorted(maps.Keys(in)) {
		if _, ok := states[row]; !ok {
			v.rep.add(schema.GroupRank, readableURL(row), schema.RankState.Name, "", fmt.Sprintf("%d inlinks", inlinks[row]))
		}
	}
}
