package repository_test

import (
	"context"
	"math"
	"testing"

	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify"
)

func openRanked(t *testing.T, dir string, o repository.Options) *repository.Repository {
	t.Helper()
	r, err := repository.Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func loadSites(t *testing.T, r *repository.Repository) {
	t.Helper()
	fetches := mustReadWeb(t, ownWebs)
	for i := range fetches {
		if _, err := r.Load(t.Context(), &fetches[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func mustVerify(t *testing.T, r *repository.Repository) {
	t.Helper()
	rep, err := verify.Run(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range rep.Differences {
		t.Error(d)
	}
}

// TestTolerance: a smaller tolerance brings the ranks that are there nearer, a larger one
// leaves them, none keeps what was said last; and what verify holds them to is the same.
func TestTolerance(t *testing.T) {
	dir, last := t.TempDir(), 1.0
	for _, c := range []struct{ asked, kept float64 }{{0.05, 0.05}, {0, 0.05}, {1e-5, 1e-5}, {0, 1e-5}, {0.01, 0.01}} {
		r := openRanked(t, dir, repository.Options{RankTolerance: c.asked})
		if last == 1 {
			loadSites(t, r)
		} else if err := r.Quiesce(t.Context()); err != nil {
			t.Fatal(err)
		}
		mustVerify(t, r)
		s, err := r.SolveRanks(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s.Tolerance != c.kept || s.GreatestError > c.kept || s.GreatestError > last {
			t.Errorf("asked for %g: kept to %g, error %g after %g", c.asked, s.Tolerance, s.GreatestError, last)
		}
		if s.ResidualSum > s.ResidualBound || s.Corrected != 0 || s.Edges == 0 {
			t.Errorf("asked for %g: %+v", c.asked, s)
		}
		last = s.GreatestError + 1e-12
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRanksAreAdded: a directory from before there were ranks gets them.
func TestRanksAreAdded(t *testing.T) {
	dir := t.TempDir()
	r := openRanked(t, dir, repository.Options{WithoutRanks: true})
	loadSites(t, r)
	_, err := r.DB().Run(t.Context(), func(tx *txn.Txn) error { tx.Delete(schema.AppRow, schema.RankTolerance); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = openRanked(t, dir, repository.Options{})
	defer r.Close()
	mustVerify(t, r)
}

// TestCorrection: a sum that has drifted from its summands is found by the full solve
// and put right by the observers, for all URLs downstream.
func TestCorrection(t *testing.T) {
	r := openRanked(t, t.TempDir(), repository.Options{})
	defer r.Close()
	loadSites(t, r)
	drifted := ""
	_, err := r.DB().Run(t.Context(), func(tx *txn.Txn) error {
		return tx.Scan(t.Context(), schema.GroupRank, "", "", func(row string, cols []txn.Version) error {
			for _, c := range cols {
				if m, err := schema.DecodeRankState(c.Data); c.Name == schema.RankState.Name && err == nil && m.Out > 0 && m.Inlinks > 0 {
					m.In += 0.01
					tx.Set(row, schema.RankState, m.Encode())
					drifted = row
					return txn.ErrStop
				}
			}
			return nil
		})
	})
	if err != nil || drifted == "" {
		t.Fatalf("nothing to damage: %v", err)
	}
	for _, want := range []int{1, 0} {
		s, err := r.SolveRanks(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s.Corrected != want {
			t.Errorf("%d sums corrected, want %d", s.Corrected, want)
		}
		if err := r.Quiesce(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	mustVerify(t, r)
}

// TestStatsOfRanks: the figures of ranks in stats are those of the full solve.
func TestStatsOfRanks(t *testing.T) {
	r := openRanked(t, t.TempDir(), repository.Options{})
	defer r.Close()
	loadSites(t, r)
	s, err := r.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	full, err := r.SolveRanks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.Ranks, full.Ranks
	const unit = 1.0 / (1 << 36) // stats rounds each residual down to a multiple of it
	if d := b.ResidualSum - a.ResidualSum; d < -1e-12 || d > float64(a.URLs)*unit || math.Abs(a.ResidualBound-b.ResidualBound) > 1e-12 {
		t.Errorf("%+v, not %+v", a, b)
	}
	if d := b.ResidualGreatest - a.ResidualGreatest; d < 0 || d > unit {
		t.Errorf("%+v, not %+v", a, b)
	}
	a.ResidualSum, a.ResidualBound, a.ResidualGreatest = 0, 0, 0
	b.ResidualSum, b.ResidualBound, b.ResidualGreatest = 0, 0, 0
	if a != b || a.URLs == 0 {
		t.Errorf("%+v, not %+v", a, b)
	}
}
