package repository_test

import (
	"os"
	"slices"
	"strings"
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

// TestSharedFilesMissing: check says so if the files that a process keeps are gone, and nothing about the
// files of other machines.
func TestSharedFilesMissing(t *testing.T) {
	f := newFleet(t)
	loader, dir := f.join(false), t.TempDir()
	m := f.joinAt(dir, repository.Options{}, true, observers.LeaseRank, observers.LeaseIndex)
	load(t, loader.Repository, 3, mustReadWeb(t, ownWebs)[:5])
	indexHolder(t, m)
	problems := func(of *member) []string {
		rep, err := of.Check(t.Context(), quietly)
		if err != nil || rep.Total > 0 {
			t.Fatalf("check: %+v, %v", rep, err)
		}
		return rep.Index.Problems
	}
	if list := slices.Concat(problems(m), problems(loader)); len(list) > 0 {
		t.Errorf("sound files: %q", list)
	}
	if err := os.RemoveAll(repository.IndexDir(dir)); err != nil {
		t.Fatal(err)
	}
	if list := problems(m); len(list) != 1 || !strings.Contains(list[0], repository.IndexDir(dir)) {
		t.Errorf("missing files: %q", list)
	}
	if list := problems(loader); len(list) > 0 {
		t.Errorf("files of another machine: %q", list)
	}
	if _, err := m.Reindex(t.Context(), func(int) {}); err != nil {
		t.Fatal(err)
	}
	if list := problems(m); len(list) > 0 {
		t.Errorf("rebuilt files: %q", list)
	}
	closeNow(t, m.Repository)
	closeNow(t, loader.Repository)
}
