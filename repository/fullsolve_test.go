package repository_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// TestFullSolveBesideEverything: full solves, several at once, during loading and
// garbage collection. None fails, and the result is right.
func TestFullSolveBesideEverything(t *testing.T) {
	fetches, more := mustReadWeb(t, ownWebs), versions(200)
	if testing.Short() {
		more = more[:60]
	}
	want := undisturbed(t, append(slices.Clone(fetches), more...))
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	load(t, r, 4, fetches)
	loaded := make(chan struct{})
	g, ctx := errgroup.WithContext(t.Context())
	g.Go(func() error {
		defer close(loaded)
		_, err := loadAll(ctx, r, 2, more, nil)
		return err
	})
	beside := func(name string, do func(context.Context) error) {
		g.Go(func() error {
			for {
				if err := do(ctx); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				select {
				case <-loaded:
					return nil
				default:
				}
			}
		})
	}
	for range 2 {
		beside("full solve", func(ctx context.Context) error { _, err := r.SolveRanks(ctx); return err })
	}
	beside("ranks", func(ctx context.Context) error { _, err := r.Ranks(ctx); return err })
	beside("gc", func(ctx context.Context) error { _, err := r.Collect(ctx, quietly); return err })
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	wantSound(t, r, want)
}

// drift adds something to what has come in at some URLs, and says how many there are.
func drift(t *testing.T, r *repository.Repository, by float64) (drifted int) {
	t.Helper()
	_, err := r.DB().Run(t.Context(), func(tx *txn.Txn) error {
		drifted = 0
		return tx.Scan(t.Context(), schema.GroupRank, "", "", func(row string, cols []txn.Version) error {
			for _, c := range cols {
				if m, err := schema.DecodeRankState(c.Data); c.Name == schema.RankState.Name && err == nil && m.Inlinks > 0 {
					m.In += by
					tx.Set(row, schema.RankState, m.Encode())
					drifted++
				}
			}
			return nil
		})
	})
	if err != nil || drifted == 0 {
		t.Fatalf("nothing to damage: %v", err)
	}
	return drifted
}

// TestCorrectionsMeet: a second full solve finds what the first one has already found,
// before or after the observers have put it right. Nothing is corrected twice.
func TestCorrectionsMeet(t *testing.T) {
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	loadSites(t, r)
	rounds := testenv.Size(5, 8, 50)
	for round := range rounds {
		drift(t, r, 0.01)
		g, ctx := errgroup.WithContext(t.Context())
		for range 3 {
			g.Go(func() error {
				_, err := r.SolveRanks(ctx)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		if err := r.Quiesce(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := solve(t, r); s.Corrected > 0 {
			t.Fatalf("round %d: %d sums are wrong after they were corrected", round, s.Corrected)
		}
	}
	mustVerify(t, r)
}
