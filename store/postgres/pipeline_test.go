package postgres_test

import (
	"context"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/internal/sites"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/postgres"
	"github.com/webindexer/indexer/verify"
)

// TestPipeline: all observers together, on PostgreSQL, come to the digest that they come to in a
// data directory. The test logs the round trips that a page takes.
func TestPipeline(t *testing.T) {
	files, err := filepath.Glob("../../testdata/sites/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no webs: %v", err)
	}
	var fetches []page.Fetch
	for _, file := range files[:testenv.Size(2, 4, len(files))] {
		s, err := sites.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		fetches = append(fetches, s.Fetches()...)
	}
	setting := pgtest.Shared(t).Schema(t)
	var table store.Table
	open := func(ctx context.Context, groups []store.GroupSpec) (_ store.Table, err error) {
		table, err = postgres.Open(ctx, setting, groups, postgres.Options{})
		return table, err
	}
	want := indexed(t, fetches, repository.Options{}, func() {})
	got := indexed(t, fetches, repository.Options{Workers: 16, Table: open}, func() {
		s := table.(interface{ Stats() postgres.Stats }).Stats()
		page := func(n int64) float64 { return float64(n) / float64(len(fetches)) }
		t.Logf("a page: %.1f reads in %.1f round trips, %.1f rows written in %.1f, %.1f guarded mutations, %.1f scans in %.1f; %.1f round trips in all",
			page(s.Reads), page(s.ReadRequests), page(s.Writes), page(s.WriteRequests), page(s.Guarded), page(s.Scans), page(s.ScanRequests), page(s.Requests()))
	})
	if got != want {
		t.Errorf("digest %s, want %s", got, want)
	}
}

// indexed loads fetches into a repository, calls loaded when all work is done, verifies it, and
// returns the digest.
func indexed(t *testing.T, fetches []page.Fetch, opts repository.Options, loaded func()) string {
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
	t.Logf("%d fetches in %v", len(fetches), time.Since(began).Round(time.Millisecond))
	loaded()
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
