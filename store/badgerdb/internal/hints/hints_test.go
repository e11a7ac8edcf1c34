package hints

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

// testColumn is a column for tests; all fall into the one bucket of New(1).
func testColumn(n int) Hash { return Hash{uint64(n) + 1, uint64(2*n) + 100} }

// found is what a reader of the view seq tells about testColumn(0).
func found(bound, seq uint64, value string) Hint {
	e := Hint{Column: testColumn(0), Bound: bound, Seq: seq}
	if bound > 0 {
		e.Keep([]byte(value))
	}
	return e
}

// TestOrder tells the cases in which a hint would lie, step by step.
func TestOrder(t *testing.T) {
	const long = "a value that is too long to be kept"
	a := testColumn(0)
	put := func(h *Table, ts, bound, seq uint64, v string) { h.Raise(a, ts, bound, seq, []byte(v)) }
	for _, tc := range []struct {
		name  string
		do    func(h *Table)
		seq   uint64 // of the reader
		bound uint64
		ok    bool
		value string // if known
	}{
		{"nothing known", func(*Table) {}, 9, 0, false, ""},
		{"put at 7 by group 3, reader after it", func(h *Table) { put(h, 7, 7, 3, "x") }, 3, 8, true, "x"},
		{"put at 7 by group 3, reader before it", func(h *Table) { put(h, 7, 7, 3, "x") }, 2, 8, false, ""},
		{"a long value", func(h *Table) { put(h, 7, 7, 3, long) }, 3, 8, true, ""},
		{"put below the newest", func(h *Table) { put(h, 7, 7, 3, "x"); put(h, 5, 7, 4, "y") }, 4, 8, true, ""},
		{"put twice at one timestamp", func(h *Table) { put(h, 7, 7, 3, "x"); put(h, 7, 7, 4, "y") }, 4, 8, true, "y"},
		{"found at 7", func(h *Table) { h.Fill(found(8, 3, "x")) }, 3, 8, true, "x"},
		{"found to be empty", func(h *Table) { h.Fill(found(0, 3, "")) }, 3, 0, true, ""},
		{"removed", func(h *Table) { put(h, 7, 7, 3, "x"); h.Drop(a, 7, 4) }, 4, 8, true, ""},
		{"an older one removed", func(h *Table) { put(h, 7, 7, 3, "x"); h.Drop(a, 5, 4) }, 4, 8, true, "x"},
		{"removed and put in one group", func(h *Table) { h.Drop(a, 7, 3); put(h, 7, 7, 3, "x") }, 3, 8, true, "x"},
		{"put and removed in one group", func(h *Table) { put(h, 7, 7, 3, "x"); h.Drop(a, 7, 3) }, 3, 8, true, ""},
		// The newest was deleted by group 3: a reader at 2 still sees it.
		{"found at 5 after a delete, reader before it", func(h *Table) { put(h, 7, 7, 2, "x"); h.Fill(found(6, 3, "y")) }, 2, 6, false, ""},
		// A reader at 2 is late with what it found: group 3 is on its way.
		{"late reader against a put", func(h *Table) { put(h, 7, 7, 3, "x"); h.Fill(found(6, 2, "y")) }, 3, 8, true, "x"},
		{"late reader against a removal", func(h *Table) { h.Drop(a, 7, 3); h.Fill(found(8, 2, "x")) }, 3, 0, false, ""},
		{"late reader against an earlier one", func(h *Table) { h.Fill(found(8, 3, "x")); h.Fill(found(6, 2, "y")) }, 3, 8, true, "x"},
		{"late reader, and the put's hint was pushed out", func(h *Table) {
			put(h, 7, 7, 3, "x")
			for i := 1; i <= slotsInBucket; i++ {
				h.Raise(testColumn(i), 7, 7, uint64(3+i), nil)
			}
			h.Fill(found(6, 2, "y"))
		}, 9, 0, false, ""},
	} {
		h := New(1)
		tc.do(h)
		e, ok := h.Of(a, tc.seq)
		if ok != tc.ok || ok && e.Bound != tc.bound {
			t.Errorf("%s: bound %d, %v, want %d, %v", tc.name, e.Bound, ok, tc.bound, tc.ok)
		}
		if ok && (e.Known != (tc.value != "") && e.Bound > 0 || e.Known && string(e.Short()) != tc.value) {
			t.Errorf("%s: value %q (known: %v), want %q", tc.name, e.Short(), e.Known, tc.value)
		}
	}
}

// growingColumn is a column for tests; all fall into one bucket until the table has grown.
func growingColumn(n int) Hash {
	return Hash{uint64(n) << firstBits, uint64(2*n) + 100}
}

// TestNeverLie runs groups that put and delete versions against readers of
// random, also old, views, which fill in what they find a while later, while the table
// grows now and then. No hint that a view may use is below what the view sees, or has
// another value than it sees.
func TestNeverLie(t *testing.T) {
	t.Run("crowded", func(t *testing.T) { neverLie(t, testColumn, 8, 0) })
	t.Run("growing", func(t *testing.T) { neverLie(t, growingColumn, 1<<20, 3) })
}

const columns = 12

// column is the versions of a column, by timestamp.
type column map[uint64]string

// history is what views see, by sequence number.
type history []map[int]column

// check checks the hints that views may use, and counts them, and those with a value.
func (views history) check(t *testing.T, h *Table, hashOf func(int) Hash) (used, known int) {
	t.Helper()
	for seq, view := range views {
		for c := range columns {
			e, ok := h.Of(hashOf(c), uint64(seq))
			if !ok {
				continue
			}
			used++
			if want := newestOf(view[c]); e.Bound < want {
				t.Fatalf("column %d at %d: bound %d, newest %d", c, seq, e.Bound, want)
			}
			if !e.Known {
				continue
			}
			known++
			if want, there := view[c][e.Bound-1]; !there || want != string(e.Short()) {
				t.Fatalf("column %d at %d: value %q at %d, want %q (there: %v)", c, seq, e.Short(), e.Bound-1, want, there)
			}
		}
	}
	return used, known
}

func neverLie(t *testing.T, hashOf func(int) Hash, cells, doublings int) {
	r := testenv.Random(t)
	used, known := 0, 0
	rounds := testenv.Size(20, 100, 1000)
	if doublings > 0 {
		rounds = testenv.Size(2, 10, 200) // such tables are large
	}
	for range rounds {
		h, grown := New(cells), 0
		var late []Hint
		views := history{{}}
		most := map[int]uint64{} // the greatest timestamp ever put, plus one
		for range 300 {
			now := uint64(len(views) - 1)
			if grown < doublings && r.IntN(50) == 0 {
				h.grow()
				grown++
			}
			switch r.IntN(3) {
			case 0: // a group
				next := map[int]column{}
				for c, list := range views[now] {
					next[c] = maps.Clone(list)
				}
				for i := range 1 + r.IntN(3) {
					c, ts := r.IntN(columns), uint64(r.IntN(20))
					if _, there := next[c][ts]; there && r.IntN(2) == 0 {
						delete(next[c], ts)
						h.Drop(hashOf(c), ts, now+1)
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
					h.Raise(hashOf(c), ts, most[c]-1, now+1, []byte(value))
					next[c][ts] = value
				}
				views = append(views, next)
			case 1: // a reader looks
				seq, c := uint64(r.IntN(len(views))), r.IntN(columns)
				met := Hint{Column: hashOf(c), Bound: newestOf(views[seq][c]), Seq: seq}
				if met.Bound > 0 {
					met.Keep([]byte(views[seq][c][met.Bound-1]))
				}
				late = append(late, met)
			case 2: // and tells
				if len(late) > 0 {
					i := r.IntN(len(late))
					h.Fill(late[i])
					late = slices.Delete(late, i, i+1)
				}
			}
			u, k := views.check(t, h, hashOf)
			used, known = used+u, known+k
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

// TestGrow checks that the table grows with what is in it, up to its bound, and loses
// little on the way.
func TestGrow(t *testing.T) {
	const columns = 8 * firstBuckets * slotsInBucket
	h := New(2 * columns)
	r := testenv.Random(t)
	list := make([]Hash, columns)
	for i := range list {
		list[i] = Hash{r.Uint64(), r.Uint64()}
		h.Raise(list[i], uint64(i), uint64(i), uint64(i+1), nil)
	}
	if n := len(h.table.Load().buckets); n <= firstBuckets || n > h.most {
		t.Errorf("%d buckets, of at most %d", n, h.most)
	}
	kept := 0
	for i, c := range list {
		e, ok := h.Of(c, columns)
		if ok && (e.Bound != uint64(i+1) || e.Seq != uint64(i+1)) {
			t.Fatalf("column %d: bound %d, group %d", i, e.Bound, e.Seq)
		}
		if ok {
			kept++
		}
	}
	if kept < columns/2 {
		t.Errorf("%d of %d hints are left", kept, columns)
	}
	few := New(firstBuckets * slotsInBucket)
	for i, c := range list {
		few.Raise(c, uint64(i), uint64(i), uint64(i+1), nil)
	}
	if n := len(few.table.Load().buckets); n != firstBuckets {
		t.Errorf("%d buckets, more than the bound", n)
	}
}

// TestGrowBesideReaders raises hints while the table grows and readers look and fill.
// No hint is below what a reader's view has.
func TestGrowBesideReaders(t *testing.T) {
	const columns = 64
	h := New(8 * firstBuckets * slotsInBucket)
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
				e, ok := h.Of(growingColumn(c), view)
				if ok && e.Bound < newest+1 {
					t.Errorf("view %d, column %d: bound %d, newest %d", view, c, e.Bound, newest)
					return
				}
				if !ok && newest > 0 {
					h.Fill(Hint{Column: growingColumn(c), Bound: newest + 1, Seq: view})
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
		h.Raise(growingColumn(c), seq, seq, seq, nil)
		last[c].Store(seq)
		published.Store(seq)
	}
}

func TestBounds(t *testing.T) {
	if n := unsafe.Sizeof(bucket{}); n != 64 {
		t.Errorf("a bucket has %d bytes", n)
	}
	if New(-1) != nil {
		t.Error("a negative number does not switch hints off")
	}
	h := New(1000)
	if n := len(h.table.Load().buckets) * slotsInBucket; n != 1024 {
		t.Errorf("room for %d", n)
	}
	one := h.Hash(maphash.String(h.seed, "x"), []byte("head"))
	if one != h.Hash(maphash.String(h.seed, "x"), []byte("head")) {
		t.Error("a column has two hashes")
	}
}
