package txn

import (
	"strconv"
	"testing"
)

// TestWriteSet: every write is found, in the list and in the map after it, and no
// other; the order is that of the first writes.
func TestWriteSet(t *testing.T) {
	var set writeSet
	cell := func(i int) Cell { return Cell{strconv.Itoa(i), app("c")} }
	for n := range 3 * fewCells {
		if set.get(cell(n)) != nil {
			t.Fatalf("cell %d is there before it was written", n)
		}
		set.add(write{cell: cell(n)})
		for i := range n + 1 {
			if w := set.get(cell(i)); w == nil || w != set.order[i] || w.cell != cell(i) {
				t.Fatalf("cell %d of %d: %v", i, n+1, w)
			}
		}
	}
}
