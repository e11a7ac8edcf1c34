package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/webindexer/indexer/store"
)

// names are rows and columns whose order and escaping can go wrong, in order.
var names = []string{
	"", "\x00", "\x00\x00", "\x00\x01", "\x00\xff", "\x01", "a", "a\x00", "a\x00\x00", "a\x00\x01", "a\x00b", "a\x01", "aa",
	"a\xff", "a\xff\xff", "b", "\xff", "\xff\x00", "\xff\xff",
}

func testOrder(t *testing.T, open Opener) {
	f := start(t, open)
	for _, g := range []string{versioned, latest, resident} {
		var want []string
		for i := len(names) - 1; i >= 0; i-- {
			for j := range names {
				f.mutate(row(names[i], put(g, names[j], 1, "x"), put(g, names[j], 2, "y")))
			}
		}
		for _, r := range names {
			for _, c := range names {
				want = append(want, fmt.Sprintf("%q %q 2", r, c))
				if g != latest {
					want = append(want, fmt.Sprintf("%q %q 1", r, c))
				}
			}
		}
		var got []string
		for _, c := range f.scanAll(f.table, store.Range{Group: g}) {
			got = append(got, fmt.Sprintf("%q %q %d", c.Row, c.Column, c.TS))
		}
		if i := firstDifference(got, want); i >= 0 {
			t.Fatalf("group %s: of %d cells (want %d), number %d is %s, want %s", g, len(got), len(want), i, at(got, i), at(want, i))
		}
		for _, r := range names {
			for _, c := range names {
				cells, err := f.table.Read(ctx, []byte(r), store.Selector{Group: g, Column: []byte(c), Newest: 1})
				if err != nil || len(cells) != 1 || string(cells[0].Column) != c || string(cells[0].Row) != r || cells[0].TS != 2 {
					t.Errorf("Read(%q, %q) = %s, %v", r, c, show(cells), err)
				}
			}
		}
		for _, lo := range names {
			for _, p := range []string{"", "\x00", "a", "a\x00", "\xff"} {
				cells := f.scanAll(f.table, store.Range{Group: g, Start: []byte(lo), End: []byte("b"), ColumnPrefix: []byte(p), Newest: 1})
				for _, c := range cells {
					if string(c.Row) < lo || string(c.Row) >= "b" || !bytes.HasPrefix(c.Column, []byte(p)) || c.TS != 2 {
						t.Fatalf("Scan [%q, b) prefix %q gives %s", lo, p, showCell(c))
					}
				}
				rows, columns := 0, 0
				for _, n := range names {
					if n >= lo && n < "b" {
						rows++
					}
					if bytes.HasPrefix([]byte(n), []byte(p)) {
						columns++
					}
				}
				if len(cells) != rows*columns {
					t.Errorf("group %s: Scan [%q, b) prefix %q gives %d cells, want %d", g, lo, p, len(cells), rows*columns)
				}
			}
		}
	}
}

// firstDifference is the index of the first element that differs, or -1.
func firstDifference(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if at(a, i) != at(b, i) {
			return i
		}
	}
	return -1
}

func at(s []string, i int) string {
	if i < len(s) {
		return s[i]
	}
	return "nothing"
}

// testScanResume: a scan in pieces gives what a scan in one go gives, and stops
// between rows, as soon as it can.
func testScanResume(t *testing.T, open Opener) {
	f := start(t, open)
	for i, r := range names {
		m := row(r)
		for j := range i % 4 {
			m.Mutations = append(m.Mutations, put(versioned, fmt.Sprint("c", j), 1, "x"), put(versioned, fmt.Sprint("c", j), 2, "y"))
		}
		f.mutate(m)
	}
	want := show(f.scanAll(f.table, store.Range{Group: versioned}))
	for maxCells := 1; maxCells < 12; maxCells++ {
		var all []store.Cell
		rg := store.Range{Group: versioned, MaxCells: maxCells}
		for piece := 0; ; piece++ {
			var got []store.Cell
			next, err := f.table.Scan(ctx, rg, func(c store.Cell) error {
				got = append(got, c)
				return nil
			})
			if err != nil || piece > len(names) {
				t.Fatalf("MaxCells %d, piece %d: %q, %v", maxCells, piece, next, err)
			}
			all = append(all, got...)
			last := string(got[len(got)-1].Row)
			before := slices.IndexFunc(got, func(c store.Cell) bool { return string(c.Row) == last })
			if before >= maxCells || next != nil && (len(got) < maxCells || string(next) <= last) {
				t.Errorf("MaxCells %d: a piece of %d cells, %d before its last row %q, next %q", maxCells, len(got), before, last, next)
			}
			if next == nil {
				break
			}
			rg.Start = next
		}
		if got := show(all); got != want {
			t.Errorf("MaxCells %d:\n got %s\nwant %s", maxCells, got, want)
		}
	}
}

func testScanErrors(t *testing.T, open Opener) {
	f := start(t, open)
	for _, r := range []string{"a", "b", "c"} {
		f.mutate(row(r, put(versioned, "1", 1, "x"), put(versioned, "2", 1, "x")))
	}
	boom := errors.New("boom")
	n := 0
	next, err := f.table.Scan(ctx, store.Range{Group: versioned}, func(store.Cell) error {
		if n++; n == 4 {
			return boom
		}
		return nil
	})
	if !errors.Is(err, boom) || string(next) != "b" || n != 4 {
		t.Errorf("Scan with a failing callback = %q, %v after %d cells; want the row it was in, its error, 4", next, err, n)
	}
	for _, rg := range []store.Range{
		{Group: versioned, Start: []byte("b"), End: []byte("b")},
		{Group: versioned, Start: []byte("c"), End: []byte("a")},
		{Group: versioned, End: []byte{}},
		{Group: versioned, MinTS: 2},
		{Group: versioned, Start: []byte("d")},
		{Group: locks}, {Group: resident}, {Group: latest},
	} {
		if cells := f.scanAll(f.table, rg); len(cells) != 0 {
			t.Errorf("Scan(%+v) = %s, want nothing", rg, show(cells))
		}
	}
	// The callback may use the table.
	_, err = f.table.Scan(ctx, store.Range{Group: versioned}, func(c store.Cell) error {
		_, err := f.table.Mutate(ctx, row(string(c.Row), put(latest, "seen", 1, "x")))
		return err
	})
	if err != nil || len(f.scanAll(f.table, store.Range{Group: latest})) != 3 {
		t.Errorf("mutating from within a scan: %v", err)
	}
}

// testManyVersions: columns with so many versions that an engine may skip some by
// seeking.
func testManyVersions(t *testing.T, open Opener) {
	f := start(t, open)
	const versions = 100
	for _, c := range []string{"a", "b", "c"} {
		m := row("r")
		for ts := uint64(1); ts <= versions; ts++ {
			m.Mutations = append(m.Mutations, put(versioned, c, ts, "v"))
		}
		f.mutate(m)
	}
	for _, hi := range []uint64{1, 2, 50, 91, 92, 93, 99, 100, 0} {
		for _, newest := range []int{1, 2, 99, 0} {
			top := hi
			if top == 0 {
				top = versions
			}
			n := int(top)
			if newest > 0 && newest < n {
				n = newest
			}
			want := ""
			for _, c := range []string{"a", "b", "c"} {
				for i := range n {
					want += fmt.Sprintf(" versioned:r:%s@%d=v", c, top-uint64(i))
				}
			}
			want = want[1:]
			f.wantRead(want, "r", store.Selector{Group: versioned, Prefix: true, MaxTS: hi, Newest: newest})
			if got := show(f.scanAll(f.table, store.Range{Group: versioned, MaxTS: hi, Newest: newest})); got != want {
				t.Errorf("Scan(MaxTS %d, Newest %d) gives %s", hi, newest, got)
			}
		}
	}
	f.mutate(row("r", delUpTo(versioned, "b", versions-1)))
	f.wantRead("versioned:r:b@100=v", "r", exact(versioned, "b"))
	f.wantRead("versioned:r:c@1=v", "r", store.Selector{Group: versioned, Column: []byte("c"), MaxTS: 1})
}
