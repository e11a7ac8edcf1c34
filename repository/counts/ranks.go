package counts

import (
	"context"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/txn"
)

// Ranks says how accurate the ranks are.
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
func ReadRanks(ctx context.Context, tx *txn.Txn) (Ranks, error) {
	tolerance, err := observers.RankTolerance(ctx, tx)
	if err != nil {
		return Ranks{}, err
	}
	var sum tally
	for it, err := range scanRanks(ctx, tx, span{}) {
		if err != nil {
			return Ranks{}, err
		}
		sum.add(&it.tally)
	}
	return sum.ranks(tolerance), nil
}
