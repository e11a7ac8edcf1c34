package postgres_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/postgres"
	"github.com/webindexer/indexer/verify/verifytest"
)

// TestPipeline: all observers together, on PostgreSQL, come to the digest that they come to in a
// data directory. The test logs the round trips that a page takes.
func TestPipeline(t *testing.T) {
	fetches := verifytest.Webs(t, "../../testdata/sites", testenv.Size(2, 4, math.MaxInt))
	setting := pgtest.Shared(t).Schema(t)
	var table store.Table
	open := func(ctx context.Context, groups []store.GroupSpec) (_ store.Table, err error) {
		table, err = postgres.Open(ctx, setting, groups, postgres.Options{})
		return table, err
	}
	want := verifytest.Digest(t, fetches, repository.Options{}, func(time.Duration) {})
	got := verifytest.Digest(t, fetches, repository.Options{Workers: 16, Table: open}, func(took time.Duration) {
		s := table.(interface{ Stats() postgres.Stats }).Stats()
		page := func(n int64) float64 { return float64(n) / float64(len(fetches)) }
		t.Logf("%d fetches in %v; a page: %.1f reads in %.1f round trips, %.1f rows written in %.1f, %.1f guarded mutations, %.1f scans in %.1f; %.1f round trips in all", len(fetches), took.Round(time.Millisecond),
			page(s.Reads), page(s.ReadRequests), page(s.Writes), page(s.WriteRequests), page(s.Guarded), page(s.Scans), page(s.ScanRequests), page(s.Requests()))
	})
	if got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}
