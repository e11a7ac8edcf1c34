package badgerdb

import (
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

// TestNewestNeverTooLow compares with a complete map: the bound may be too high,
// and must never be too low.
func TestNewestNeverTooLow(t *testing.T) {
	r := testenv.Random(t)
	for range 50 {
		n := newNewest(2 + r.IntN(20))
		type column struct {
			g int
			h uint64
		}
		truth := map[column]uint64{}
		for h := range uint64(30) { // what was there before opening
			c := column{int(h % 3), h}
			truth[c] = uint64(r.IntN(50))
			n.floor[c.g] = max(n.floor[c.g], truth[c])
		}
		exact := 0
		for range 2000 {
			h := uint64(r.IntN(60))
			c := column{int(h % 3), h}
			if r.IntN(2) == 0 {
				ts := uint64(r.IntN(200))
				n.note(c.g, c.h, ts)
				truth[c] = max(truth[c], ts)
			}
			if got := n.of(c.g, c.h); got < truth[c] {
				t.Fatalf("bound %d of column %v, which has %d", got, c, truth[c])
			} else if got == truth[c] {
				exact++
			}
			if size := len(n.young.bound) + len(n.old.bound); size > 2*n.half {
				t.Fatalf("%d entries, at most %d", size, 2*n.half)
			}
		}
		if exact == 0 {
			t.Error("no bound was exact: the map is of no use")
		}
	}
}
