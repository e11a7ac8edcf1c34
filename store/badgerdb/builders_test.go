package badgerdb

import (
	"testing"

	"github.com/dgraph-io/badger/v4"
)

// TestBuilderPool checks that the pool of this version of Badger is found, and that what
// building a table leaves in it can be freed.
func TestBuilderPool(t *testing.T) {
	db, err := badger.OpenManaged(BadgerOptions(t.TempDir(), Options{}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	pool, err := builderPool(db)
	if err != nil {
		t.Fatal(err)
	}
	if n := emptyPool(pool); n != 0 {
		t.Errorf("%d bytes before any table was built", n)
	}
	pool.Return(pool.Get(1<<20, "a builder"))
	if n := emptyPool(pool); n != 1<<20 {
		t.Errorf("freed %d bytes, want %d", n, 1<<20)
	}
	if n := emptyPool(pool); n != 0 {
		t.Errorf("%d bytes were left", n)
	}
}
