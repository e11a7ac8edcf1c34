package bigtable_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/sites"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/bigtable"
	"github.com/webindexer/indexer/store/bigtable/bigtabletest"
	"github.com/webindexer/indexer/verify"
)

// webs returns the fetches of small recorded webs.
func webs(t *testing.T) (fetches []page.Fetch) {
	t.Helper()
	files, err := filepath.Glob("../../testdata/sites/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no webs: %v", err)
	}
	for _, file := range files[:testenv.Size(3, 8, len(files))] {
		s, err := sites.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		fetches = append(fetches, s.Fetches()...)
	}
	return fetches
}

// indexed loads fetches into a repository, calls loaded when all work is done, verifies it, and
// returns the digest.
func indexed(t *testing.T, fetches []page.Fetch, opts repository.Options, loaded func(took time.Duration)) (digest string) {
	t.Helper()
	ctx := t.Context()
	r, err := repository.Open(ctx, t.TempDir(), opts)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	began := time.Now()
	var work sync.WaitGroup
	const loaders = 8
	for i := range loaders {
		work.Go(func() {
			for j := i; j < len(fetches); j += loaders {
				if _, err := r.Load(ctx, &fetches[j]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	if err := r.Quiesce(ctx); err != nil {
		t.Fatal(err)
	}
	loaded(time.Since(began))
	report, err := verify.Run(ctx, r)
	if err != nil || report.Total > 0 {
		t.Errorf("verify: %v, %v", report.Differences, err)
	}
	res, err := r.Export(ctx, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return res.Digest
}

// TestPipeline: all observers together, on Bigtable, come to the digest that they come to in a
// data directory. The test logs the requests that a page takes, with and without sharing.
func TestPipeline(t *testing.T) {
	fetches := webs(t)
	want := indexed(t, fetches, repository.Options{}, func(time.Duration) {})
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
			got := indexed(t, fetches, repository.Options{Workers: 16, Table: open}, func(took time.Duration) {
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
