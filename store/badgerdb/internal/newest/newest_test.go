package newest

import (
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

// TestNewestNeverTooLow compares with a complete map: the bound may be too high,
// and must never be too low.
func TestNewestNeverTooLow(t *testing.T) {
	r := testenv.Random(t)
	for range 50 {
		type column struct {
			g int
			h uint64
		}
		truth, known := map[column]uint64{}, map[column]bool{}
		floor := make([]uint64, 3)
		fresh := r.IntN(2) == 0
		for h := range uint64(30) { // what was there before opening
			c := column{int(h % 3), h}
			if !fresh {
				truth[c], known[c] = uint64(r.IntN(50)), true
				floor[c.g] = max(floor[c.g], truth[c])
			}
		}
		n := New(2+r.IntN(20), floor, fresh)
		exact, absent := 0, 0
		for range 2000 {
			h := uint64(r.IntN(200))
			c := column{int(h % 3), h}
			if r.IntN(4) == 0 {
				ts := uint64(r.IntN(200))
				truth[c], known[c] = max(truth[c], ts), true
				if got := n.Note(c.g, c.h, ts); got != n.Of(c.g, c.h) {
					t.Fatalf("note says %d, of says %d", got, n.Of(c.g, c.h))
				}
			}
			got, lo := n.Of(c.g, c.h), uint64(r.IntN(200))
			switch {
			case got < truth[c]:
				t.Fatalf("bound %d of column %v, which has %d", got, c, truth[c])
			case known[c] && n.Never(c.h):
				t.Fatalf("column %v counts as never written", c)
			case known[c] && truth[c] >= lo && n.None(c.g, c.h, lo):
				t.Fatalf("nothing in column %v from %d on, which has %d", c, lo, truth[c])
			}
			if got == truth[c] {
				exact++
			}
			if n.Never(c.h) {
				absent++
			}
		}
		if exact == 0 || fresh && absent == 0 {
			t.Error("no bound was exact: the table is of no use")
		}
	}
}
