package badgerdb

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/webindexer/indexer/internal/testenv"
)

// hintColumn is a column for tests; all fall into the one bucket of newHints(1).
func hintColumn(n int) columnHash { return columnHash{uint64(n) + 1, uint64(2*n) + 100} }

// found is what a reader of the view seq tells of hintColumn(0).
func found(bound, seq uint64, value string) hint {
	e := hint{column: hintColumn(0), bound: bound, seq: seq}
	if bound > 0 {
		e.keep([]byte(value))
	}
	return e
}

// TestHintsOrder tells the cases in which a hint would lie, step by step.
func TestHintsOrder(t *testing.T) {
	const long = "a value that is too long to be kept"
	a := hintColumn(0)
	put := func(h *hints, ts, bound, seq uint64, v string) { h.raise(a, ts, bound, seq, []byte(v)) }
	for _, tc := range []struct {
		name  string
		do    func(h *hints)
		seq   uint64 // of the reader
		bound uint64
		ok    bool
		value string // if known
	}{
		{"nothing known", func(*hints) {}, 9, 0, false, ""},
		{"put at 7 by group 3, reader after it", func(h *hints) { put(h, 7, 7, 3, "x") }, 3, 8, true, "x"},
		{"put at 7 by group 3, reader before it", func(h *hints) { put(h, 7, 7, 3, "x") }, 2, 8, false, ""},
		{"a long value", func(h *hints) { put(h, 7, 7, 3, long) }, 3, 8, true, ""},
		{"put below the newest", func(h *hints) { put(h, 7, 7, 3, "x"); put(h, 5, 7, 4, "y") }, 4, 8, true, ""},
		{"put twice at one timestamp", func(h *hints) { put(h, 7, 7, 3, "x"); put(h, 7, 7, 4, "y") }, 4, 8, true, "y"},
		{"found at 7", func(h *hints) { h.fill(found(8, 3, "x")) }, 3, 8, true, "x"},
		{"found to be empty", func(h *hints) { h.fill(found(0, 3, "")) }, 3, 0, true, ""},
		{"removed", func(h *hints) { put(h, 7, 7, 3, "x"); h.drop(a, 7, 4) }, 4, 8, true, ""},
		{"an older one removed", func(h *hints) { put(h, 7, 7, 3, "x"); h.drop(a, 5, 4) }, 4, 8, true, "x"},
		{"removed and put in one group", func(h *hints) { h.drop(a, 7, 3); put(h, 7, 7, 3, "x") }, 3, 8, true, "x"},
		{"put and removed in one group", func(h *hints) { put(h, 7, 7, 3, "x"); h.drop(a, 7, 3) }, 3, 8, true, ""},
		// The newest was deleted by group 3: a reader at 2 still sees it.
		{"found at 5 after a delete, reader before it", func(h *hints) { put(h, 7, 7, 2, "x"); h.fill(found(6, 3, "y")) }, 2, 6, false, ""},
		// A reader at 2 is late with what it found: group 3 is on its way.
		{"late reader against a put", func(h *hints) { put(h, 7, 7, 3, "x"); h.fill(found(6, 2, "y")) }, 3, 8, true, "x"},
		{"late reader against a removal", func(h *hints) { h.drop(a, 7, 3); h.fill(found(8, 2, "x")) }, 3, 0, false, ""},
		{"late reader against an earlier one", func(h *hints) { h.fill(found(8, 3, "x")); h.fill(found(6, 2, "y")) }, 3, 8, true, "x"},
		{"late reader, and the put's hint was pushed out", func(h *hints) {
			put(h, 7, 7, 3, "x")
			for i := 1; i <= hintsInBucket; i++ {
				h.raise(hintColumn(i), 7, 7, uint64(3+i), nil)
			}
			h.fill(found(6, 2, "y"))
		}, 9, 0, false, ""},
	} {
		h := newHints(1)
		tc.do(h)
		e, ok := h.of(a, tc.seq)
		if ok != tc.ok || ok && e.bound != tc.bound {
			t.Errorf("%s: bound %d, %v, want %d, %v", tc.name, e.bound, ok, tc.bound, tc.ok)
		}
		if ok && (e.known != (tc.value != "") && e.bound > 0 || e.known && string(e.short()) != tc.value) {
			t.Errorf("%s: value %q (known: %v), want %q", tc.name, e.short(), e.known, tc.value)
		}
	}
}

// growingColumn is a column for tests; all fall into one bucket until the table has grown.
func growingColumn(n int) columnHash {
	return columnHash{uint64(n) << firstHintBits, uint64(2*n) + 100}
}

// TestHintsNeverLie runs groups that put and delete versions against readers of
// random, also old, views, which fill in what they find a while later, while the table
// grows now and then. No hint that a view may use is below what the view sees, or has
// another value than it sees.
func TestHintsNeverLie(t *testing.T) {
	t.Run("crowded", func(t *testing.T) { hintsNeverLie(t, hintColumn, 8, 0) })
	t.Run("growing", func(t *testing.T) { hintsNeverLie(t, growingColumn, 1<<20, 3) })
}

func hintsNeverLie(t *testing.T, hashOf func(int) columnHash, cells, doublings int) {
	r := testenv.Random(t)
	const columns = 12
	type column map[uint64]string // the versions of a column, by timestamp
	used, known := 0, 0
	rounds := testenv.Size(20, 100, 1000)
	if doublings > 0 {
		rounds = testenv.Size(2, 10, 200) // such tables are large
	}
	for range rounds {
		h, grown := newHints(cells), 0
		var late []hint
		history := []map[int]column{{}} // by sequence number
		most := map[int]uint64{}        // the greatest timestamp ever put, plus one
		for range 300 {
			now := uint64(len(history) - 1)
			if grown < doublings && r.IntN(50) == 0 {
				h.grow()
				grown++
			}
			switch r.IntN(3) {
			case 0: // a group
				next := map[int]column{}
				for c, list := range history[now] {
					next[c] = maps.Clone(list)
				}
				for i := range 1 + r.IntN(3) {
					c, ts := r.IntN(columns), uint64(r.IntN(20))
					if _, there := next[c][ts]; there && r.IntN(2) == 0 {
						delete(next[c], ts)
						h.drop(hashOf(c), ts, now+1)
						continue
					}
					if next[c] == nil {
						next[c] = column{}
					}
					value := fmt.Sprint(now, ".", i)
					if r.IntN(4) == 0 {
						value += " and more than is kept"
					}
					most[c] = max(most[c], ts+1)
					h.raise(hashOf(c), ts, most[c]-1, now+1, []byte(value))
					next[c][ts] = value
				}
				history = append(history, next)
			case 1: // a reader looks
				seq, c := uint64(r.IntN(len(history))), r.IntN(columns)
				met := hint{column: hashOf(c), bound: newestOf(history[seq][c]), seq: seq}
				if met.bound > 0 {
					met.keep([]byte(history[seq][c][met.bound-1]))
				}
				late = append(late, met)
			case 2: // and tells
				if len(late) > 0 {
					i := r.IntN(len(late))
					h.fill(late[i])
					late = slices.Delete(late, i, i+1)
				}
			}
			for seq := range history {
				for c := range columns {
					e, ok := h.of(hashOf(c), uint64(seq))
					if !ok {
						continue
					}
					used++
					if want := newestOf(history[seq][c]); e.bound < want {
						t.Fatalf("column %d at %d: bound %d, newest %d", c, seq, e.bound, want)
					}
					if !e.known {
						continue
					}
					known++
					if want, there := history[seq][c][e.bound-1]; !there || want != string(e.short()) {
						t.Fatalf("column %d at %d: value %q at %d, want %q (there: %v)", c, seq, e.short(), e.bound-1, want, there)
					}
				}
			}
		}
	}
	if used == 0 || known == 0 {
		t.Fatalf("%d hints were of use, %d with a value", used, known)
	}
}

// newestOf is the greatest timestamp plus one, 0 for none.
func newestOf(list map[uint64]string) (bound uint64) {
	for ts := range list {
		bound = max(bound, ts+1)
	}
	return bound
}

// TestHintsGrow checks that the table grows with what is in it, up to its bound, and loses
// little on the way.
func TestHintsGrow(t *testing.T) {
	const columns = 8 * firstHintBuckets * hintsInBucket
	h := newHints(2 * columns)
	r := testenv.Random(t)
	list := make([]columnHash, columns)
	for i := range list {
		list[i] = columnHash{r.Uint64(), r.Uint64()}
		h.raise(list[i], uint64(i), uint64(i), uint64(i+1), nil)
	}
	if n := len(h.table.Load().buckets); n <= firstHintBuckets || n > h.most {
		t.Errorf("%d buckets, of at most %d", n, h.most)
	}
	kept := 0
	for i, c := range list {
		e, ok := h.of(c, columns)
		if ok && (e.bound != uint64(i+1) || e.seq != uint64(i+1)) {
			t.Fatalf("column %d: bound %d, group %d", i, e.bound, e.seq)
		}
		if ok {
			kept++
		}
	}
	if kept < columns/2 {
		t.Errorf("%d of %d hints are left", kept, columns)
	}
	few := newHints(firstHintBuckets * hintsInBucket)
	for i, c := range list {
		few.raise(c, uint64(i), uint64(i), uint64(i+1), nil)
	}
	if n := len(few.table.Load().buckets); n != firstHintBuckets {
		t.Errorf("%d buckets, more than the bound", n)
	}
}

// TestHintsGrowBesideReaders raises hints while the table grows and readers look and fill.
// No hint is below what a reader's view has.
func TestHintsGrowBesideReaders(t *testing.T) {
	const columns = 64
	h := newHints(8 * firstHintBuckets * hintsInBucket)
	var published atomic.Uint64
	var last [columns]atomic.Uint64 // the group that wrote a column last, and its timestamp
	var readers sync.WaitGroup
	defer readers.Wait()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for reader := range 2 {
		r := rand.New(rand.NewPCG(testenv.Random(t).Uint64(), uint64(reader)))
		readers.Go(func() {
			for ctx.Err() == nil {
				view, c := published.Load(), r.IntN(columns)
				newest := last[c].Load()
				if newest > view { // written since: the view's version is not known here
					continue
				}
				e, ok := h.of(growingColumn(c), view)
				if ok && e.bound < newest+1 {
					t.Errorf("view %d, column %d: bound %d, newest %d", view, c, e.bound, newest)
					return
				}
				if !ok && newest > 0 {
					h.fill(hint{column: growingColumn(c), bound: newest + 1, seq: view})
				}
			}
		})
	}
	r := testenv.Random(t)
	groups := uint64(testenv.Size(2_000, 20_000, 500_000))
	for seq := uint64(1); seq <= groups; seq++ {
		if seq%(groups/4) == 0 && len(h.table.Load().buckets) < h.most {
			h.grow()
		}
		c := r.IntN(columns)
		h.raise(growingColumn(c), seq, seq, seq, nil)
		last[c].Store(seq)
		published.Store(seq)
	}
}

func TestHintsBounds(t *testing.T) {
	if n := unsafe.Sizeof(hintBucket{}); n != 64 {
		t.Errorf("a bucket has %d bytes", n)
	}
	if newHints(-1) != nil {
		t.Error("a negative number does not switch hints off")
	}
	h := newHints(1000)
	if n := len(h.table.Load().buckets) * hintsInBucket; n != 1024 {
		t.Errorf("room for %d", n)
	}
	one := h.hash(maphash.String(h.seed, "x"), []byte("head"))
	if one != h.hash(maphash.String(h.seed, "x"), []byte("head")) {
		t.Error("a column has two hashes")
	}
}
