package badgerdb_test

import (
	"testing"

	"go.uber.org/goleak"

	"indexer/store"
	"indexer/store/badgerdb"
	"indexer/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, dir string, groups []store.GroupSpec, opts badgerdb.Options) *badgerdb.DB {
	t.Helper()
	db, err := badgerdb.Open(dir, groups, opts)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t testing.TB, groups []store.GroupSpec) store.Table {
		return open(t, t.TempDir(), groups, badgerdb.Options{})
	})
}

// A map of newest timestamps, and hints, that hold next to nothing must change no
// answer.
func TestConformanceTinyMap(t *testing.T) {
	storetest.Run(t, func(t testing.TB, groups []store.GroupSpec) store.Table {
		return open(t, t.TempDir(), groups, badgerdb.Options{NewestCells: 4, HintCells: 4})
	})
}
