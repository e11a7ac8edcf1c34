package verify

import (
	"cmp"
	"context"
	"fmt"

	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify/batch"
)

// Run verifies a repository. An error means that it could not be verified; differences
// are in the report.
func Run(ctx context.Context, r *repository.Repository) (*Report, error) {
	q, err := r.Quiet(ctx)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	rep, err := compare(ctx, q)
	if err := cmp.Or(err, q.Close()); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	return rep, nil
}

func compare(ctx context.Context, q *repository.Quiet) (*Report, error) {
	v := &verifier{
		tx:  q.Tx,
		rep: &Report{SnapshotTS: q.Tx.Start(), Checked: make(map[string]int), Differences: []Difference{}},
	}
	if err := v.computeBatch(ctx); err != nil {
		return nil, err
	}
	steps := []func(context.Context) error{
		v.compareRanks, v.compareURLs, v.compareDocs, v.compareMembers, v.compareLinks, v.comparePointers, v.compareIndexed,
		v.compareSummaries, v.compareLeftOver, v.compareAnswers,
		func(ctx context.Context) error {
			if q.Index == nil { // on another machine
				return nil
			}
			return v.compareFiles(ctx, q.Index)
		},
		func(ctx context.Context) error { return v.compareCounts(ctx, q.Counts) },
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return v.rep, nil
}

type verifier struct {
	tx    *txn.Txn
	batch *batch.Repository
	rep   *Report
	// tolerance is the relative error that ranks may have.
	tolerance float64
}
