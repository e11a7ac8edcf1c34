package repository

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/webindexer/indexer/internal/rank"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/observers/pagerank"
	"github.com/webindexer/indexer/repository/counts"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Ranks returns how accurate the ranks are now.
func (r *Repository) Ranks(ctx context.Context) (*counts.Ranks, error) {
	tx, err := snapshot.Now(ctx, r.db)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	ranks, err := counts.ReadRanks(ctx, tx)
	if err != nil {
		return nil, fmt.Errorf("ranks: %w", err)
	}
	return &ranks, nil
}

// FullSolve is the result of comparing the ranks with a full solve.
type FullSolve struct {
	counts.Ranks
	SnapshotTS uint64 `json:"snapshot_ts"`
	Iterations int    `json:"iterations"`
	GraphBytes int    `json:"graph_bytes"`
	// GreatestError is the greatest relative error of a rank, and L1Error the sum of the
	// absolute errors.
	GreatestError float64 `json:"greatest_error"`
	L1Error       float64 `json:"l1_error"`
	// Corrected is how many sums had drifted from their summands by rounding.
	Corrected    int     `json:"corrected"`
	ReadSeconds  float64 `json:"read_seconds"`
	SolveSeconds float64 `json:"solve_seconds"`
}

// SolveRanks computes all ranks from scratch, by power iteration over the graph of one snapshot in
// memory, and compares them with the stored ranks. Meanwhile the pipeline keeps running. Where a
// sum has drifted from its summands, SolveRanks leaves a correction, which the observers apply
// like any other change. Rank that waits to be passed on appears as an error here: when all work
// is done, no error exceeds the tolerance. Only one full solve runs at a time; others wait for it.
func (r *Repository) SolveRanks(ctx context.Context) (*FullSolve, error) {
	res := new(FullSolve)
	if mine, err := r.byHolder(ctx, observers.LeaseRank, taskSolve, nil, res); err != nil || !mine {
		return res, err
	}
	return r.solveRanks(ctx)
}

// solveRanks does what SolveRanks does, in the process that updates the ranks. That may be the
// process that asked, if it has been given the lease meanwhile.
func (r *Repository) solveRanks(ctx context.Context) (*FullSolve, error) {
	select { // two full solves at a time would both correct the same drift
	case r.solving <- struct{}{}:
		defer func() { <-r.solving }()
	case <-ctx.Done():
		return nil, fmt.Errorf("solve the ranks: wait for another full solve: %w", context.Cause(ctx))
	}
	res := new(FullSolve)
	release := r.db.Hold() // the snapshot is read at the beginning, and again at the end
	defer release()
	last, err := r.db.Now(ctx)
	if err != nil {
		return nil, fmt.Errorf("solve the ranks: %w", err)
	}
	res.SnapshotTS = last
	began := time.Now()
	g, err := r.readRankGraph(ctx, res)
	if err != nil {
		return nil, fmt.Errorf("solve the ranks: %w", err)
	}
	res.ReadSeconds = time.Since(began).Seconds()
	res.URLs, res.Edges, res.GraphBytes = g.Nodes(), g.Edges(), g.Bytes()
	res.ResidualSum, res.ResidualGreatest = g.Residuals()
	began = time.Now()
	solved, err := rank.Solve(ctx, g.Graph, rank.Options{Tolerance: 1e-10})
	if err != nil {
		return nil, fmt.Errorf("solve the ranks: %w", err)
	}
	res.SolveSeconds, res.Iterations = time.Since(began).Seconds(), solved.Iterations
	for i, exact := range solved.Ranks {
		off := math.Abs(g.Ranks[i] - exact)
		res.L1Error += off
		res.GreatestError = max(res.GreatestError, off/exact)
	}
	if err := r.correctRanks(ctx, g, res); err != nil {
		return nil, fmt.Errorf("correct the ranks: %w", err)
	}
	return res, nil
}

func (r *Repository) readRankGraph(ctx context.Context, res *FullSolve) (*pagerank.Graph, error) {
	tx, err := snapshot.At(ctx, r.db, res.SnapshotTS)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	if res.Tolerance, err = observers.RankTolerance(ctx, tx); err != nil {
		return nil, err
	}
	g, err := observers.ReadRankGraph(ctx, tx)
	if err != nil {
		return nil, err
	}
	for i := range g.Nodes() {
		if g.OutDegree(uint32(i)) > 0 {
			res.ResidualBound += pagerank.ResidualBound(res.Tolerance)
		}
	}
	return g, nil
}

// A sum is corrected if it differs from its summands by more than drift, relative to the summands.
const drift = 1e-13

// correctRanks leaves, for the observers, the difference between the rank that every
// URL's sources have passed on and the rank that it has added up. That sum keeps changing
// in the meantime, but the difference does not, because only rounding causes it.
//
// If an earlier full solve left a correction that was not applied at the snapshot, the
// sum already includes it. When the new correction is written, it is added to the old one
// if that still exists. No other code writes corrections, and there is only one full
// solve at a time, so none is applied twice. (A URL that loses all its links in the
// meantime begins a new sum. A correction for the old sum then makes the new one wrong by
// the same amount, which the next full solve finds.)
func (r *Repository) correctRanks(ctx context.Context, g *pagerank.Graph, res *FullSolve) error {
	in, err := g.Inflows(ctx, g.Pushed)
	if err != nil {
		return err
	}
	missing := make(map[string]float64)
	pick := func(row string, cols []txn.Version) error {
		i, ok := g.Number(row)
		if !ok {
			return nil
		}
		pending, err := pendingCorrection(cols)
		if off := in[i] - g.In[i] - pending; err == nil && math.Abs(off) > drift*in[i] {
			missing[row] = off
		}
		return err
	}
	drifted := func(tx *txn.Txn, found func(row string) error) error {
		return tx.Scan(ctx, schema.GroupRank, "", "", func(row string, cols []txn.Version) error {
			if err := pick(row, cols); err != nil || missing[row] == 0 {
				return err
			}
			return found(row)
		})
	}
	// A process that has lost the lease in the meantime must not correct what the next
	// holder also corrects.
	guard, leave, err := r.guarded(ctx, observers.LeaseRank)
	if err != nil {
		return err
	}
	defer leave()
	reading, err := snapshot.At(ctx, r.db, res.SnapshotTS)
	if err != nil {
		return err
	}
	defer reading.Rollback()
	err = r.inChunks(ctx, reading, drifted, guard, func(tx *txn.Txn, row string) error {
		now, err := tx.Get(ctx, row, schema.Correction)
		if err != nil {
			return err
		}
		pending, err := schema.DecodeCorrection(now.Data)
		tx.Set(row, schema.Correction, schema.EncodeCorrection(pending+missing[row]))
		tx.Notify(row, schema.Push)
		return err
	})
	res.Corrected = len(missing)
	return err
}

// pendingCorrection returns the correction among the columns of a rank row, or 0 if there is none.
func pendingCorrection(cols []txn.Version) (float64, error) {
	for _, c := range cols {
		if c.Name == schema.Correction.Name {
			return schema.DecodeCorrection(c.Data)
		}
	}
	return 0, nil
}

// visit calls found for some rows of a snapshot.
type visit func(tx *txn.Txn, found func(row string) error) error

// inChunksNow does what inChunks does, for the current state.
func (r *Repository) inChunksNow(ctx context.Context, v visit, fn func(tx *txn.Txn, row string) error) error {
	reading, err := snapshot.Now(ctx, r.db)
	if err != nil {
		return err
	}
	defer reading.Rollback()
	return r.inChunks(ctx, reading, v, func(*txn.Txn) error { return nil }, fn)
}

// inChunks calls fn for the rows that a visit finds, in transactions of some rows each, after
// first. It may call fn again for some rows.
func (r *Repository) inChunks(ctx context.Context, reading *txn.Txn, v visit, first func(*txn.Txn) error, fn func(tx *txn.Txn, row string) error) error {
	const chunk = 500
	var rows []string
	flush := func() error {
		_, err := r.db.Run(ctx, func(tx *txn.Txn) error {
			if err := first(tx); err != nil {
				return err
			}
			for _, row := range rows {
				if err := fn(tx, row); err != nil {
					return fmt.Errorf("%q: %w", row, err)
				}
			}
			return nil
		})
		rows = rows[:0]
		return err
	}
	err := v(reading, func(row string) error {
		if rows = append(rows, row); len(rows) < chunk {
			return nil
		}
		return flush()
	})
	if err != nil || len(rows) == 0 {
		return err
	}
	return flush()
}

// matchRanks adapts the ranks to the requested tolerance; 0 keeps the current one. If the
// tolerance changes, or there were no ranks before, every URL is checked again.
//
// That is also necessary if the tolerance grows: a cluster that had no tie to break may
// have one now, and later changes that are too small to be published would not wake it.
// The check includes URLs that were not fetched, and URLs that are only in the journal: the
// published rank of each may differ from its sum by as much as the old tolerance allowed.
func (r *Repository) matchRanks(ctx context.Context, tolerance float64) error {
	known, err := r.fact(ctx, schema.RankTolerance)
	if err != nil {
		return err
	}
	now, err := schema.DecodeTolerance(known.Data)
	if err != nil {
		return err
	}
	if tolerance <= 0 {
		tolerance = now
	}
	if known.Exists && tolerance == now {
		return nil
	}
	ranked := func(tx *txn.Txn, found func(row string) error) error {
		if !known.Exists {
			return tx.Scan(ctx, schema.GroupURL, "", "", func(row string, _ []txn.Version) error { return found(row) })
		}
		// A URL without a mass has an exact rank.
		return observers.VisitRankStates(ctx, tx, "", "", func(row string, _ schema.StoredRankState) error { return found(row) })
	}
	// A crash before the tolerance is written begins again.
	err = r.inChunksNow(ctx, ranked, func(tx *txn.Txn, row string) error {
		tx.Notify(row, schema.Push)
		return nil
	})
	if err != nil {
		return fmt.Errorf("check all ranks for a tolerance of %g: %w", tolerance, err)
	}
	return r.setFact(ctx, schema.RankTolerance, schema.EncodeTolerance(tolerance))
}
