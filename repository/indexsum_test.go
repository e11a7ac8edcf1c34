package repository_test

import (
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// openCounted opens a repository and counts how often it compared all documents.
func openCounted(t *testing.T, dir string) (r *repository.Repository, scans int) {
	t.Helper()
	log, logged := observer.New(zap.InfoLevel)
	r = open(t, dir, repository.Options{Log: zap.New(log)})
	for _, e := range logged.All() {
		if strings.Contains(e.Message, "compared with all documents") {
			scans++
		}
	}
	return r, scans
}

// TestKilledComparesSums kills a process in the middle of a load, when runs have written to
// the index files that have not committed yet. The next one compares sums, and reads only
// the documents of those runs.
func TestKilledComparesSums(t *testing.T) {
	rnd := testenv.Random(t)
	fetches := mustReadWeb(t, ownWebs)
	want := undisturbed(t, fetches)
	dir := filepath.Join(t.TempDir(), "data")
	r, scans := openCounted(t, dir)
	closeNow(t, r)
	if scans != 1 {
		t.Errorf("a directory without a sum: %d scans, want 1", scans)
	}
	for range testenv.Size(2, 4, 40) {
		if s := startChild(t, dir, ownWebs, txn.Auto).listen(moment{saysLoad, 1 + rnd.IntN(len(fetches))}); s.failed != "" {
			t.Fatal(s.failed)
		}
		r, scans := openCounted(t, dir)
		closeNow(t, r)
		if scans != 0 {
			t.Errorf("%d scans after a kill", scans)
		}
	}
	r, _ = openCounted(t, dir)
	load(t, r, 1, fetches)
	wantSound(t, r, want)
	closeNow(t, r)
}

// TestOutdatedSum opens a directory whose sum is not that of its documents, as one that an
// earlier build has changed.
func TestOutdatedSum(t *testing.T) {
	fetches := mustReadWeb(t, ownWebs)
	dir := filepath.Join(t.TempDir(), "data")
	r := open(t, dir, repository.Options{})
	load(t, r, 1, fetches)
	want := digestOf(t, r)
	_, err := r.DB().Run(t.Context(), func(tx *txn.Txn) error {
		tx.Set(schema.AppRow, schema.IndexSum, schema.StoredIndexSum{Documents: 1, Sum: 2}.Encode())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	closeNow(t, r)
	r, scans := openCounted(t, dir)
	if scans != 1 {
		t.Errorf("%d scans, want 1", scans)
	}
	wantSound(t, r, want)
	closeNow(t, r)
	r, scans = openCounted(t, dir)
	if scans != 0 {
		t.Errorf("%d scans after the sum was corrected", scans)
	}
	closeNow(t, r)
}
