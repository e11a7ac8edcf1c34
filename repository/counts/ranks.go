package counts

import (
	"context"
	"math"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/pagerank"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Ranks says how exact the ranks are.
type Ranks struct {
	// Tolerance is the relative error that no rank exceeds at rest.
	Tolerance float64 `json:"tolerance"`
	// URLs and Edges that ranks are passed along. A URL without edges has the rank 0.15 and
	// is not counted.
	URLs  int `json:"urls"`
	Edges int `json:"edges"`
	// ResidualSum is the rank that all URLs together have not passed on, ResidualBound its
	// bound at rest, and ResidualGreatest the largest residual of one URL.
	ResidualSum      float64 `json:"residual_sum"`
	ResidualBound    float64 `json:"residual_bound"`
	ResidualGreatest float64 `json:"residual_greatest"`
}

// ReadRanks adds up the rank states.
func ReadRanks(ctx context.Context, tx *txn.Txn) (r Ranks, err error) {
	if r.Tolerance, err = observers.RankTolerance(ctx, tx); err != nil {
		return r, err
	}
	err = observers.VisitRankStates(ctx, tx, func(_ string, m schema.StoredRankState) error {
		r.add(&m)
		return nil
	})
	return r, err
}

func (r *Ranks) add(m *schema.StoredRankState) {
	r.URLs++
	r.Edges += m.Out
	if m.Out > 0 {
		residual := math.Abs(m.Residual())
		r.ResidualSum += residual
		r.ResidualGreatest = max(r.ResidualGreatest, residual)
		r.ResidualBound += pagerank.ResidualBound(r.Tolerance)
	}
}
