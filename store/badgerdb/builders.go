package badgerdb

import (
	"context"
	"errors"
	"reflect"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/ristretto/v2/z"

	"github.com/webindexer/indexer/internal/sleep"
)

// Badger builds a table in blocks of memory, and keeps the blocks of up to eight builders
// in a pool for the next tables. The table of a memtable takes 2.4 times the memtable's
// size, while a compaction builds tables of a few MiB. As the pool gives out its members
// in turn, all eight grow to what a memtable needs: 336 MiB with memory: 600, which is
// more than everything else on the heap. Badger releases one of them when no table was
// built for two seconds, which never happens during a load.
//
// So the program empties the pool every now and then. Badger has no option for that and
// does not export the pool, so its field is read by reflection. The pool's methods are
// exported, and safe for several goroutines: what Get returned belongs to the caller.

const (
	poolField = "allocPool"
	poolEvery = time.Second / 2
	// poolProbe is what Get allocates if the pool is empty, in bytes. No allocator has
	// less, and a builder of Badger begins with 4 MiB.
	poolProbe = 512
)

var errNoBuilderPool = errors.New("this version of Badger has no pool of table builders where the program expects it")

// builderPool finds the pool in which Badger keeps the memory of table builders.
func builderPool(db *badger.DB) (*z.AllocatorPool, error) {
	field := reflect.ValueOf(db).Elem().FieldByName(poolField)
	if !field.IsValid() || field.Type() != reflect.TypeFor[*z.AllocatorPool]() {
		return nil, errNoBuilderPool
	}
	return (*z.AllocatorPool)(field.UnsafePointer()), nil
}

// freeBuilders empties the pool again and again until the context ends, which must be
// before Badger closes.
func freeBuilders(ctx context.Context, pool *z.AllocatorPool) {
	for sleep.For(ctx, poolEvery) == nil {
		emptyPool(pool)
	}
}

// emptyPool releases what is in the pool and returns its size in bytes.
func emptyPool(pool *z.AllocatorPool) (freed uint64) {
	for {
		a := pool.Get(poolProbe, "")
		n := a.Allocated()
		a.Release()
		if n <= poolProbe {
			return freed
		}
		freed += n
	}
}
