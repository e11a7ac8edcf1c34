package webtest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/pagerank"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify/batch"
)

// rounding is the relative error that sums of ranks may have after many additions.
const rounding = 1e-9

// addRanks reports where rank states break the invariants of observers/rank.go.
func (l lines) addRanks(ctx context.Context, tx *txn.Txn, r *batch.Repository) error {
	states := make(map[string]schema.StoredRankState)
	edges := make(map[string][]string)
	err := tx.Scan(ctx, schema.GroupRank, "", "", func(row string, cols []txn.Version) (err error) {
		for _, c := range cols {
			switch c.Name {
			case schema.RankState.Name:
				states[row], err = schema.DecodeRankState(c.Data)
			case schema.Edges.Name:
				var e schema.StoredEdges
				e, err = schema.EdgesIn(cols)
				edges[row] = e.Targets
			default:
				if _, ok := schema.PartNumber(schema.Edges, c.Name); ok && edges[row] != nil {
					continue // of the list that was read with part 0
				}
				l.add("rank left over %q: %s", row, c.Name)
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	tolerance, err := observers.RankTolerance(ctx, tx)
	if err != nil {
		return err
	}
	l.addEdges(edges, r)
	l.addRankStates(states, edges, pagerank.ResidualBound(tolerance))
	for u := range r.URLs() {
		m, ok := states[schema.URLRow(u.URL)]
		if !ok {
			m = schema.NoRankState
		}
		l.addRank(string(u.URL), m.Rank, u.Rank, tolerance)
	}
	return nil
}

// addRank reports a rank that is off by more than the tolerance.
func (l lines) addRank(what string, got, want, tolerance float64) {
	if math.Abs(got-want) > (tolerance+rounding)*want {
		l.add("rank of %s is %v, not %v", what, got, want)
	}
}

func (l lines) addEdges(edges map[string][]string, r *batch.Repository) {
	known := 0
	for u := range r.URLs() {
		var want []string
		for _, t := range u.Edges() {
			want = append(want, schema.URLRow(t))
		}
		slices.Sort(want)
		row := schema.URLRow(u.URL)
		if got := edges[row]; !slices.Equal(got, want) {
			l.add("edges of %s are %q, not %q", u.URL, got, want)
		}
		if _, ok := edges[row]; ok {
			known++
		}
	}
	if known != len(edges) {
		l.add("%d URLs have edges that are not known", len(edges)-known)
	}
}

func (l lines) addRankStates(states map[string]schema.StoredRankState, edges map[string][]string, bound float64) {
	in, count := make(map[string]float64), make(map[string]int)
	for row, targets := range edges {
		for _, t := range targets {
			in[t] += states[row].Pushed / float64(len(targets))
			count[t]++
		}
		if _, ok := states[row]; !ok {
			l.add("%q has edges and no rank state", row)
		}
	}
	for row := range in {
		if _, ok := states[row]; !ok {
			l.add("%q has inlinks and no rank state", row)
		}
	}
	for row, m := range states {
		if math.Abs(m.In-in[row]) > rounding*(1+in[row]) || m.Inlinks != count[row] || m.Out != len(edges[row]) || m.Inlinks+m.Out == 0 {
			l.add("rank state of %q is %+v, but %d inlinks with %v, and %d edges", row, m, count[row], in[row], len(edges[row]))
		}
		if r := m.Residual(); math.Abs(r) > bound {
			l.add("residual of %q is %v", row, r)
		}
	}
}

// addDocumentRank reports a document whose rank is not that of its cluster.
func (l lines) addDocumentRank(ctx context.Context, tx *txn.Txn, d *index.Document, r *batch.Repository) error {
	c := r.Cluster(d.Cluster)
	if c == nil {
		return nil // another check reports that the document must not exist
	}
	tolerance, err := observers.RankTolerance(ctx, tx)
	if err != nil {
		return err
	}
	l.addRank(fmt.Sprintf("document %.8s", d.Cluster), d.Rank, c.Rank, tolerance)
	sum := 0.0
	for _, m := range c.Members {
		got, err := observers.RankOf(ctx, tx, m)
		if err != nil {
			return err
		}
		sum += got
	}
	if math.Abs(sum-d.Rank) > rounding*sum {
		l.add("rank of document %.8s is %v, but its members have %v", d.Cluster, d.Rank, sum)
	}
	v, err := tx.Get(ctx, schema.ClusterRow(page.ContentKey(d.Cluster)), schema.Indexed)
	if err != nil || !v.Exists {
		return err
	}
	stored, err := schema.DecodeIndexed(v.Data)
	if stored.Rank != d.Rank {
		l.add("rank of document %.8s is %v in the index files, %v in the table", d.Cluster, d.Rank, stored.Rank)
	}
	return err
}
