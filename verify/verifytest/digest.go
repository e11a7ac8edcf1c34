// Package verifytest loads fetches into a repository and verifies the result, for tests
// that compare engines: each engine must give the same digest.
package verifytest

import (
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/sites"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/verify"
)

// Webs returns the fetches of the first n small recorded webs of the project, or of all if there
// are fewer. dir is the path of testdata/sites, from the directory of the test.
func Webs(t testing.TB, dir string, n int) (fetches []page.Fetch) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no webs in %s: %v", dir, err)
	}
	for _, file := range files[:min(n, len(files))] {
		s, err := sites.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		fetches = append(fetches, s.Fetches()...)
	}
	return fetches
}

// loaders is how many fetches are loaded at a time.
const loaders = 8

// Digest loads fetches into a new repository, waits until the observers have done their work,
// and calls loaded with the time that this took. It verifies the repository, and returns the
// digest of its export.
func Digest(t testing.TB, fetches []page.Fetch, opts repository.Options, loaded func(took time.Duration)) string {
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
