package repository_test

import (
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
)

// TestSharedFilesCatchUp: a worker that takes the lease of the index files has files that lack
// what another one has exported to its own since. It exports that without a warning: nothing
// was lost.
func TestSharedFilesCatchUp(t *testing.T) {
	fetches := mustReadWeb(t, ownWebs)
	leases := []string{observers.LeaseRank, observers.LeaseIndex}
	f := newFleet(t)
	loader, dir := f.join(false), t.TempDir()
	for i, part := range [][]page.Fetch{fetches[:len(fetches)/2], fetches[len(fetches)/2:]} {
		m := f.joinAt([]string{dir, t.TempDir()}[i], repository.Options{}, true, leases...)
		load(t, loader.Repository, 3, part)
		indexHolder(t, m)
		closeNow(t, m.Repository)
	}
	core, logged := observer.New(zap.InfoLevel)
	m := f.joinAt(dir, repository.Options{Log: zap.New(core)}, true, leases...)
	wantAlike(t, undisturbed(t, fetches), loader, m)
	for _, e := range logged.FilterLevelExact(zap.WarnLevel).All() {
		t.Errorf("warned: %s %v", e.Message, e.ContextMap())
	}
	if n := logged.FilterMessage("the index files were older than the store, and have caught up").Len(); n != 1 {
		t.Errorf("told %d times that the files have caught up: %v", n, logged.All())
	}
	closeNow(t, m.Repository)
	closeNow(t, loader.Repository)
}
