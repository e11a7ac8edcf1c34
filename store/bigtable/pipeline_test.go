package bigtable_test

import (
	"context"
	"math"
	"os"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/bigtable"
	"github.com/webindexer/indexer/store/bigtable/bigtabletest"
	"github.com/webindexer/indexer/verify/verifytest"
)

// TestPipeline: all observers together, on Bigtable, come to the digest that they come to in a
// data directory. The test logs the requests that a page takes, with and without sharing.
func TestPipeline(t *testing.T) {
	fetches := verifytest.Webs(t, "../../testdata/sites", testenv.Size(3, 8, math.MaxInt))
	want := verifytest.Digest(t, fetches, repository.Options{}, func(time.Duration) {})
	delays := map[string]time.Duration{"shared requests": 0}
	if testenv.Long() || os.Getenv("INDEXER_REQUESTS") != "" {
		delays["a request each"] = -1
	}
	for name, delay := range delays {
		t.Run(name, func(t *testing.T) {
			var table *bigtable.DB
			open := func(ctx context.Context, groups []store.GroupSpec) (_ store.Table, err error) {
				table, err = bigtable.Open(ctx, bigtabletest.URL(t), groups, bigtable.Options{Delay: delay})
				return table, err
			}
			got := verifytest.Digest(t, fetches, repository.Options{Workers: 16, Table: open}, func(took time.Duration) {
				s := table.Stats()
				page := func(n int64) float64 { return float64(n) / float64(len(fetches)) }
				t.Logf("%d fetches in %v; a page: %.1f reads in %.1f requests, %.1f writes in %.1f, %.1f guarded mutations, %.1f scans; %.1f requests in all", len(fetches), took.Round(time.Millisecond),
					page(s.Reads), page(s.ReadRequests), page(s.Writes), page(s.WriteRequests), page(s.Guarded), page(s.Scans), page(s.Requests()))
			})
			if got != want {
				t.Errorf("digest %s, want %s", got, want)
			}
		})
	}
}
