package badgerdb

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/ristretto/v2/z"
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

// TestFreeBuilders: what builders leave in the pool is freed soon, again and again.
func TestFreeBuilders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := z.NewAllocatorPool(8)
		defer pool.Release()
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { freeBuilders(ctx, pool) })
		for range 3 {
			pool.Return(z.NewAllocator(1<<20, "a builder"))
			time.Sleep(poolEvery)
			synctest.Wait()
			if n := emptyPool(pool); n != 0 {
				t.Errorf("%d bytes are left after %v", n, poolEvery)
			}
		}
		cancel()
		running.Wait()
	})
}
