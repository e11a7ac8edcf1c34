package repository_test

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/webindexer/indexer/repository"
)

// TestCheckDuringRanks: a run that changes ranks writes the index files first. Until it commits, they
// are ahead of the store, and check does not take them for damaged.
func TestCheckDuringRanks(t *testing.T) {
	r := open(t, t.TempDir(), repository.Options{})
	defer closeNow(t, r)
	fetches := mustReadWeb(t, ownWebs)
	load(t, r, 4, fetches[:len(fetches)/2])
	var checks atomic.Int32
	r.AfterRanks(func() {
		if checks.Add(1) > 20 {
			return
		}
		rep, err := r.Check(t.Context(), quietly)
		if err != nil || rep.Total > 0 || len(rep.Index.Problems) > 0 {
			t.Errorf("check: %+v, %v", rep, err)
		}
	})
	for part := range slices.Chunk(fetches[len(fetches)/2:], 20) {
		load(t, r, 4, part)
	}
	if checks.Load() == 0 {
		t.Error("no rank has changed")
	}
}
