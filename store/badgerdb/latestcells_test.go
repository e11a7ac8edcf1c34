package badgerdb

import (
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

// TestLatestCells compares with a map by name. The hashes are so short that many columns
// share one.
func TestLatestCells(t *testing.T) {
	r := testenv.Random(t)
	var l latestCells
	for range 50 {
		l.reset()
		truth := map[byte]uint64{} // 0: removed
		for range r.IntN(100) {
			name := byte(r.IntN(40))
			ts := uint64(r.IntN(5))
			l.put(uint64(name%4), []byte{name}, ts, ts > 0)
			truth[name] = ts
		}
		for name := range byte(40) {
			ts, known := truth[name]
			c := l.of(uint64(name%4), []byte{name})
			if known != (c != nil) || known && (c.ts != ts || c.found != (ts > 0)) {
				t.Fatalf("column %d: %+v, want %d, %t", name, c, ts, known)
			}
		}
	}
}
