package repository_test

import (
	"context"
	"testing"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// lasting is a table that outlives the repositories on it, as a remote one does.
type lasting struct{ store.Table }

func (lasting) Close() error { return nil }

// plainTable returns an engine with no capability: no snapshots, no commits in one phase,
// no files.
func plainTable(t *testing.T) func(context.Context, []store.GroupSpec) (store.Table, error) {
	t.Helper()
	var table store.Table
	t.Cleanup(func() {
		if table == nil {
			return
		}
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	return func(_ context.Context, groups []store.GroupSpec) (store.Table, error) {
		if table == nil {
			made, err := mem.New(groups, mem.Options{TwoPhaseOnly: true})
			if err != nil {
				return nil, err
			}
			table = made
		}
		return lasting{table}, nil
	}
}

// TestOnAnyTable: the repository needs nothing from its table but the interface. The
// digest is that of a data directory, and everything else works as there.
func TestOnAnyTable(t *testing.T) {
	fetches := mustReadWeb(t, ownWebs)
	wantOnPlainTable(t, fetches)
}

// TestOnAnyTableCorpus does it with a recorded crawl of a real site.
func TestOnAnyTableCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds of work")
	}
	wantOnPlainTable(t, mustReadWeb(t, corpusPart(t, []string{"t0"}, "community")))
}

func wantOnPlainTable(t *testing.T, fetches []page.Fetch) {
	t.Helper()
	want := undisturbed(t, fetches)
	opts := repository.Options{Workers: 4, Table: plainTable(t)}
	dir := t.TempDir()
	r := open(t, dir, opts)
	if mode := r.DB().Mode(); mode != txn.TwoPhase {
		t.Errorf("the commit mode is %v, want two phases", mode)
	}
	load(t, r, 4, fetches)
	wantSound(t, r, want)
	collect(t, r)
	wantFit(t, r)
	if _, err := r.Space(); err != nil {
		t.Error(err)
	}
	closeNow(t, r)

	r = open(t, dir, opts) // what the last one left is all there
	wantSound(t, r, want)
	closeNow(t, r)

	r = open(t, t.TempDir(), opts) // without index files, as on another machine
	wantSound(t, r, want)
	closeNow(t, r)
}
