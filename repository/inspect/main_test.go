package inspect_test

import (
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
)

// opened returns a new repository that holds fetches, with nothing left to do.
func opened(t *testing.T, opts repository.Options, fetches ...page.Fetch) *repository.Repository {
	t.Helper()
	r, err := repository.Open(t.Context(), t.TempDir(), opts)
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, r)
	for i := range fetches {
		if _, err := r.Load(t.Context(), &fetches[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}
