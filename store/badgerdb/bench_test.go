package badgerdb_test

import (
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/store/storetest"
)

func Benchmark(b *testing.B) {
	for name, sync := range map[string]bool{"NoSync": false, "Sync": true} {
		b.Run(name, func(b *testing.B) {
			storetest.Bench(b, func(t testing.TB, groups []store.GroupSpec) store.Table {
				return open(t, t.TempDir(), groups, badgerdb.Options{SyncWrites: sync})
			})
		})
	}
}

// BenchmarkReopened reads from table files, not from memory.
func BenchmarkReopened(b *testing.B) {
	dir := b.TempDir()
	db := open(b, dir, storetest.Groups, badgerdb.Options{})
	storetest.Fill(b, db)
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	db = open(b, dir, storetest.Groups, badgerdb.Options{})
	testenv.CloseAtEnd(b, db)
	storetest.BenchReads(b, db)
}
