package bigtable

import (
	"context"
	"testing"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/bigtable/bigtabletest"
	"github.com/webindexer/indexer/store/storetest"
)

func openTable(t testing.TB, groups []store.GroupSpec, opts Options) *DB {
	t.Helper()
	db, err := Open(context.Background(), bigtabletest.URL(t), groups, opts)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestConformance(t *testing.T) {
	bigtabletest.URL(t) // one emulator for all parts
	storetest.Run(t, func(t testing.TB, groups []store.GroupSpec) store.Table {
		return openTable(t, groups, Options{})
	})
}
