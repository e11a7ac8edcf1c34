package postgres

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
)

func TestInverse(t *testing.T) {
	ascending := []uint64{0, 1, 2, 1 << 40, math.MaxInt64, 1 << 63, store.MaxTS}
	for i, ts := range ascending {
		if got := timestamp(inverse(ts)); got != ts {
			t.Errorf("timestamp(inverse(%d)) = %d", ts, got)
		}
		if i > 0 && inverse(ts) >= inverse(ascending[i-1]) {
			t.Errorf("inverse(%d) is not smaller than inverse(%d)", ts, ascending[i-1])
		}
	}
	if got := inverse(5); got != math.MaxInt64-5 { // as the documentation says
		t.Errorf("inverse(5) = %d", got)
	}
}

// TestLongRows scans rows that are longer than what an index entry can hold, and differ before,
// at and after the cut, in pieces and between bounds that are such rows themselves.
func TestLongRows(t *testing.T) {
	ctx := context.Background()
	table := open(t, []store.GroupSpec{{Name: "g"}})
	defer table.Close()
	random := testenv.Random(t)
	var rows []string
	for _, base := range []string{randomText(random, headBytes-1), randomText(random, headBytes-1)} {
		for _, end := range []string{"", "a", "b", "ab", "aa", "b\xff"} {
			rows = append(rows, base+end, base+end+randomText(random, 10), base+end+randomText(random, table.Limits().MaxRowBytes-len(base)-len(end)))
		}
	}
	slices.Sort(rows)
	var ms []store.RowMutation
	for _, i := range random.Perm(len(rows)) {
		m := store.RowMutation{Row: []byte(rows[i])}
		for _, c := range []string{"x", "y", randomText(random, table.Limits().MaxColumnBytes)} {
			m.Mutations = append(m.Mutations, store.Mutation{Group: "g", Column: []byte(c), TS: 1, Value: []byte(fmt.Sprint(i))})
		}
		ms = append(ms, m)
	}
	if err := table.Apply(ctx, ms); err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		cells, err := table.Read(ctx, []byte(row), store.Selector{Group: "g", Prefix: true})
		if err != nil || len(cells) != 3 || string(cells[0].Value) != fmt.Sprint(i) || string(cells[0].Row) != row {
			t.Fatalf("row %d: %d cells, %v", i, len(cells), err)
		}
	}
	for range testenv.Size(3, 6, 100) {
		lo, hi := random.IntN(len(rows)), random.IntN(len(rows)+1)
		r := store.Range{Group: "g", Start: []byte(rows[lo]), ColumnPrefix: []byte("x"), MaxCells: random.IntN(4)}
		if hi < len(rows) {
			r.End = []byte(rows[hi])
		}
		var got []string
		for more := true; more; more = r.Start != nil {
			var err error
			r.Start, err = table.Scan(ctx, r, func(c store.Cell) error {
				got = append(got, string(c.Row))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if want := rows[lo:max(lo, hi)]; !slices.Equal(slices.Compact(got), want) {
			t.Fatalf("rows %d to %d in pieces of %d: %d rows, want %d", lo, hi, r.MaxCells, len(got), len(want))
		}
	}
}

// TestLargeRow scans a row that is larger than a page, in cells and in bytes, between small ones.
func TestLargeRow(t *testing.T) {
	ctx := context.Background()
	table := open(t, []store.GroupSpec{{Name: "g"}})
	defer table.Close()
	put := func(row, column string, value int) store.Mutation {
		return store.Mutation{Group: "g", Column: []byte(column), TS: 1, Value: bytes.Repeat([]byte(row), value)}
	}
	var ms []store.RowMutation
	many := store.RowMutation{Row: []byte("b")}
	for i := range largePage + 500 {
		many.Mutations = append(many.Mutations, put("b", fmt.Sprintf("%05d", i), 1))
	}
	ms = append(ms, store.RowMutation{Row: []byte("a"), Mutations: []store.Mutation{put("a", "x", 1)}}, many)
	for _, row := range []string{"c", "d", "e"} { // together more than two pages of bytes
		ms = append(ms, store.RowMutation{Row: []byte(row), Mutations: []store.Mutation{put(row, "1", pageBytes/2), put(row, "2", pageBytes/2)}})
	}
	if err := table.Apply(ctx, ms); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	next, err := table.Scan(ctx, store.Range{Group: "g"}, func(c store.Cell) error {
		if len(c.Value) == 0 || !bytes.Equal(c.Value, bytes.Repeat(c.Row, len(c.Value))) {
			t.Errorf("row %q has a wrong value of %d bytes", c.Row, len(c.Value))
		}
		counts[string(c.Row)]++
		return nil
	})
	if err != nil || next != nil || fmt.Sprint(counts) != fmt.Sprintf("map[a:1 b:%d c:2 d:2 e:2]", largePage+500) {
		t.Errorf("Scan = %q, %v; %v", next, err, counts)
	}
}

func randomText(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.IntN(256))
	}
	return string(b)
}
