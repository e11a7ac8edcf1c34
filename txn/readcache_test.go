package txn

import (
	"strconv"
	"testing"
)

// TestReadCache: every cell is found, in the list and in the map after it, and no other.
func TestReadCache(t *testing.T) {
	var cache readCache
	cell := func(i int) Cell { return Cell{strconv.Itoa(i), app("c")} }
	for n := range 3 * fewCells {
		if _, ok := cache.get(cell(n)); ok {
			t.Fatalf("cell %d is there before it was read", n)
		}
		cache.put(cell(n), Value{TS: uint64(n)})
		for i := range n + 1 {
			if v, ok := cache.get(cell(i)); !ok || v.TS != uint64(i) {
				t.Fatalf("cell %d of %d: %v, %v", i, n+1, v, ok)
			}
		}
	}
}
