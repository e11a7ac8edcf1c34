package repository_test

import (
	"testing"

	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/repository"
)

// TestAskItself: a process that does not hold a lease yet asks for the work of its holder, and
// has become that holder by the time of the answer.
func TestAskItself(t *testing.T) {
	f := newFleet(t)
	loader, dir := f.join(false), t.TempDir()
	first := f.joinAt(dir, repository.Options{}, true, observers.LeaseRank, observers.LeaseIndex)
	load(t, loader.Repository, 3, mustReadWeb(t, ownWebs))
	closeNow(t, first.Repository)
	for _, ask := range []func(*member) error{
		func(m *member) error { _, err := m.Reindex(t.Context(), nil); return err },
		func(m *member) error { _, err := m.SolveRanks(t.Context()); return err },
	} {
		m := f.joinAt(dir, repository.Options{}, true, observers.LeaseRank, observers.LeaseIndex)
		if err := ask(m); err != nil {
			t.Error(err)
		}
		closeNow(t, m.Repository)
	}
	closeNow(t, loader.Repository)

	sharded := newFleet(t)
	m := sharded.mustShardWorker(dir, 3, false)
	if _, err := m.Reindex(t.Context(), nil); err != nil {
		t.Error("with shards:", err)
	}
	closeNow(t, m.Repository)
}
