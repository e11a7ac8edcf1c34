package badgerdb_test

import (
	"testing"

	"indexer/store"
	"indexer/store/badgerdb"
	"indexer/store/storetest"
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
