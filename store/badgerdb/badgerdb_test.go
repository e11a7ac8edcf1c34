package badgerdb_test

import (
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/internal/killtest"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/store/storetest"
)

// Badger leaves two goroutines behind for each directory that it fails to open
// because of a table file. A directory that was opened and not closed leaves
// others as well.
func TestMain(m *testing.M) {
	killtest.Main(map[string]func() error{"write": runChild})
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("github.com/dgraph-io/badger/v4.(*DB).monitorCache"),
		goleak.IgnoreTopFunction("github.com/dgraph-io/ristretto/v2/z.(*AllocatorPool).freeupAllocators"))
}

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

// Groups that are declared as scanned answer everything as others do.
func TestConformanceScanned(t *testing.T) {
	storetest.Run(t, func(t testing.TB, groups []store.GroupSpec) store.Table {
		scanned := slices.Clone(groups)
		for i := range scanned {
			scanned[i].Scanned = true
		}
		return describedAs{open(t, t.TempDir(), scanned, badgerdb.Options{}), groups}
	})
}

// describedAs is a table that shows the groups that the suite asked for.
type describedAs struct {
	*badgerdb.DB
	groups []store.GroupSpec
}

func (t describedAs) Groups() []store.GroupSpec { return t.groups }

// A map of newest timestamps, and hints, that hold next to nothing must change no
// answer.
func TestConformanceTinyMap(t *testing.T) {
	storetest.Run(t, func(t testing.TB, groups []store.GroupSpec) store.Table {
		return open(t, t.TempDir(), groups, badgerdb.Options{NewestCells: 4, HintCells: 4})
	})
}
