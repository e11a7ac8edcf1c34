package badgerdb

import (
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// hintColumn is a column for tests; all fall into the one bucket of newHints(1).
func hintColumn(n int) columnHash { return columnHash{uint64(n) + 1, uint64(n) + 100} }

// TestHintsOrder tells the cases in which a hint would lie, step by step.
func TestHintsOrder(t *testing.T) {
	a := hintColumn(0)
	for _, tc := range []struct {
		name  string
		do    func(h *hints)
		seq   uint64 // of the reader
		bound uint64
		ok    bool
	}{
		{"nothing known", func(*hints) {}, 9, 0, false},
		{"put at 7 by group 3, reader after it", func(h *hints) { h.raise(a, 7, 3) }, 3, 8, true},
		{"put at 7 by group 3, reader before it", func(h *hints) { h.raise(a, 7, 3) }, 2, 8, false},
		{"found at 7", func(h *hints) { h.fill(a, 8, 3) }, 3, 8, true},
		{"found to be empty", func(h *hints) { h.fill(a, 0, 3) }, 3, 0, true},
		// The newest was deleted by group 3: a reader at 2 still sees it.
		{"found at 5 after a delete, reader before it", func(h *hints) { h.raise(a, 7, 2); h.fill(a, 6, 3) }, 2, 6, false},
		// A reader at 2 is late with what it found: group 3 is on its way.
		{"late reader against a put", func(h *hints) { h.raise(a, 7, 3); h.fill(a, 6, 2) }, 3, 8, true},
		{"late reader against an earlier one", func(h *hints) { h.fill(a, 8, 3); h.fill(a, 6, 2) }, 3, 8, true},
		{"late reader, and the put's hint was pushed out", func(h *hints) {
			h.raise(a, 7, 3)
			for i := 1; i <= hintsInBucket; i++ {
				h.raise(hintColumn(i), 7, 4)
			}
			h.fill(a, 6, 2)
		}, 4, 0, false},
	} {
		h := newHints(1)
		tc.do(h)
		if bound, ok := h.of(a, tc.seq); ok != tc.ok || ok && bound != tc.bound {
			t.Errorf("%s: bound %d, %v, want %d, %v", tc.name, bound, ok, tc.bound, tc.ok)
		}
	}
}

// TestHintsNeverTooLow runs groups that put and delete versions against readers of
// random, also old, views, which fill in what they find a while later. No hint that
// a view may use is below what the view sees.
func TestHintsNeverTooLow(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	const columns = 12
	for range 200 {
		h := newHints(8)
		type fill struct {
			c          int
			bound, seq uint64
		}
		var late []fill
		history := []map[int][]uint64{{}} // by sequence number: the versions of each column
		used := 0
		for range 300 {
			now := uint64(len(history) - 1)
			switch r.IntN(3) {
			case 0: // a group
				next := map[int][]uint64{}
				for c, list := range history[now] {
					next[c] = slices.Clone(list)
				}
				for range 1 + r.IntN(3) {
					c := r.IntN(columns)
					if list := next[c]; len(list) > 0 && r.IntN(3) == 0 {
						i := r.IntN(len(list))
						next[c] = slices.Delete(list, i, i+1)
						continue
					}
					ts, most := uint64(r.IntN(100)), uint64(0)
					for _, old := range append(history, next) {
						most = max(most, newestOf(old[c]))
					}
					h.raise(hintColumn(c), max(ts+1, most)-1, now+1)
					next[c] = append(next[c], ts)
				}
				history = append(history, next)
			case 1: // a reader looks
				seq, c := uint64(r.IntN(len(history))), r.IntN(columns)
				late = append(late, fill{c, newestOf(history[seq][c]), seq})
			case 2: // and tells
				if len(late) > 0 {
					i := r.IntN(len(late))
					h.fill(hintColumn(late[i].c), late[i].bound, late[i].seq)
					late = slices.Delete(late, i, i+1)
				}
			}
			for seq := range history {
				for c := range columns {
					bound, ok := h.of(hintColumn(c), uint64(seq))
					if !ok {
						continue
					}
					used++
					if want := newestOf(history[seq][c]); bound < want {
						t.Fatalf("column %d at %d: bound %d, newest %d", c, seq, bound, want)
					}
				}
			}
		}
		if used == 0 {
			t.Fatal("no hint was ever of use")
		}
	}
}

// newestOf is the greatest timestamp plus one, 0 for none.
func newestOf(list []uint64) uint64 {
	if len(list) == 0 {
		return 0
	}
	return slices.Max(list) + 1
}

func TestHintsBounds(t *testing.T) {
	if newHints(-1) != nil {
		t.Error("a negative number does not switch hints off")
	}
	h := newHints(0)
	if n := len(h.buckets) * hintsInBucket; n != defaultHintCells {
		t.Errorf("room for %d", n)
	}
	one := h.hash(maphash.String(h.seed, "x"), []byte("head"))
	if one != h.hash(maphash.String(h.seed, "x"), []byte("head")) {
		t.Error("a column has two hashes")
	}
}
