package verify

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify/batch"
)

// Run verifies a repository. An error means that it could not be verified; differences
// are in the report.
func Run(ctx context.Context, r *repository.Repository) (*Report, error) {
	return RunParts(ctx, r, 1, func(string, ...any) {})
}

// RunParts does what Run does, with several parts of the work at the same time: it interprets
// pages, and compares kinds of rows, in parallel. The report is the same for any number of
// parts. RunParts calls tell from time to time with its progress.
func RunParts(ctx context.Context, r *repository.Repository, parts int, tell func(format string, args ...any)) (*Report, error) {
	tell("waiting until all work is done")
	q, err := r.Quiet(ctx)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	rep, err := compare(ctx, q, parts, tell)
	if err := errors.Join(err, q.Close()); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	rep.Repaired = r.Repaired()
	return rep, nil
}

func compare(ctx context.Context, q *repository.Quiet, parts int, tell func(format string, args ...any)) (*Report, error) {
	v := &verifier{db: q.DB, hold: q.Tx, tx: q.Tx, parts: max(1, parts), rep: newReport(), tell: tell, rows: new(atomic.Int64)}
	v.rep.SnapshotTS = q.Tx.Start()
	var err error
	if v.tolerance, err = observers.RankTolerance(ctx, v.tx); err != nil {
		return nil, err
	}
	if v.render, err = schema.ReadRender(ctx, v.tx); err != nil {
		return nil, err
	}
	if err := v.computeBatch(ctx); err != nil {
		return nil, err
	}
	steps := []func(*verifier, context.Context) error{
		(*verifier).compareRanks, (*verifier).compareURLs, (*verifier).compareDocs, (*verifier).compareMembers, (*verifier).compareLinks,
		(*verifier).comparePointers, (*verifier).compareIndexed, (*verifier).compareSummaries, (*verifier).compareLeftOver, (*verifier).compareAnswers, (*verifier).compareForms, (*verifier).compareIcons,
		func(v *verifier, ctx context.Context) error {
			if q.Index == nil { // on another machine
				return nil
			}
			return v.compareFiles(ctx, q.Index)
		},
		func(v *verifier, ctx context.Context) error { return v.compareCounts(ctx, q.Counts) },
	}
	return v.rep, v.inParts(ctx, steps)
}

type verifier struct {
	db   *txn.DB
	hold *txn.Txn // keeps the snapshot readable
	// tx reads the snapshot. Each step has its own, because a transaction serves one
	// goroutine, and remembers what it has read.
	tx    *txn.Txn
	parts int

	batch *batch.Repository
	facts map[page.URL]facts
	rep   *Report
	// tolerance is the relative error that ranks may have.
	tolerance float64
	render    schema.RenderSetting

	tell func(format string, args ...any)
	rows *atomic.Int64 // read so far, of all groups
}

// scan reads all rows of a group.
func (v *verifier) scan(ctx context.Context, group string, fn func(row string, cols []txn.Version) error) error {
	return v.tx.Scan(ctx, group, "", "", func(row string, cols []txn.Version) error {
		v.tell("%d rows read so far", v.rows.Add(1))
		return fn(row, cols)
	})
}

// facts has what is kept of a document in addition to what the batch needs: its stored
// state, and a digest of what is shown of it. Texts are many times as large as everything
// else. The few that differ are computed again.
type facts struct {
	state schema.URLState
	shown digestOfText
}

// inParts runs steps, some at a time, each with its own report. The reports are joined in
// the order of the steps, so the result does not depend on which step is faster.
func (v *verifier) inParts(ctx context.Context, steps []func(*verifier, context.Context) error) error {
	reports := make([]*Report, len(steps))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(v.parts)
	for i, step := range steps {
		g.Go(func() error {
			part := *v
			part.rep = newReport()
			part.tx = v.db.At(v.hold.Start())
			defer part.tx.Rollback()
			reports[i] = part.rep
			return step(&part, ctx)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, r := range reports {
		v.rep.join(r)
	}
	return nil
}
