package storetest

import (
	"fmt"
	"sync"
	"testing"

	"github.com/webindexer/indexer/store"
)

func testGuards(t *testing.T, open Opener) {
	for _, g := range []string{versioned, latest, locks, resident} {
		t.Run(g, func(t *testing.T) { testGuardsOn(t, open, g) })
	}
}

// testGuardsOn: the row has the cells a@5 and ab@7 in the group.
func testGuardsOn(t *testing.T, open Opener, g string) {
	f := start(t, open)
	f.mutate(row("r", put(g, "a", 5, "v"), put(g, "ab", 7, "w")))
	f.mutate(row("gone", put(g, "a", 5, "v")))
	f.mutate(row("gone", delUpTo(g, "a", 5)))
	marks := versioned // what the guarded mutations write, out of the guards' way
	if g == versioned {
		marks = latest
	}
	for i, tc := range []struct {
		row     string
		absent  []store.Selector
		require *store.CellRef
		found   string // "" for applied, "-" for a failed Require
	}{
		{"r", []store.Selector{exact(g, "a")}, nil, "a@5"},
		{"r", []store.Selector{exact(g, "b")}, nil, ""},
		{"r", []store.Selector{{Group: g, Column: []byte("a"), MinTS: 5}}, nil, "a@5"},
		{"r", []store.Selector{{Group: g, Column: []byte("a"), MinTS: 6}}, nil, ""},
		{"r", []store.Selector{{Group: g, Column: []byte("a"), MaxTS: 4}}, nil, ""},
		{"r", []store.Selector{{Group: g, Column: []byte("a"), MaxTS: 5}}, nil, "a@5"},
		{"r", []store.Selector{{Group: g, Column: []byte("a"), MinTS: 6, MaxTS: 4}}, nil, ""},
		{"r", []store.Selector{{Group: g, Column: []byte("a"), Prefix: true, MinTS: 6}}, nil, "ab@7"},
		{"r", []store.Selector{{Group: g, Prefix: true, MinTS: 8}}, nil, ""},
		{"r", []store.Selector{{Group: g, Prefix: true, MinTS: 6}}, nil, "ab@7"},
		{"r", []store.Selector{prefix(g, "abc")}, nil, ""},
		{"r", []store.Selector{exact(g, "b"), exact(g, "ab")}, nil, "ab@7"},
		{"gone", []store.Selector{exact(g, "a")}, nil, ""},
		{"gone", []store.Selector{prefix(g, "")}, nil, ""},
		{"never", []store.Selector{exact(g, "a"), prefix(g, "")}, nil, ""},
		{"r", nil, &store.CellRef{Group: g, Column: []byte("a"), TS: 5}, ""},
		{"r", nil, &store.CellRef{Group: g, Column: []byte("a"), TS: 4}, "-"},
		{"r", nil, &store.CellRef{Group: g, Column: []byte("a"), TS: 6}, "-"},
		{"r", nil, &store.CellRef{Group: g, Column: []byte("b"), TS: 5}, "-"},
		{"gone", nil, &store.CellRef{Group: g, Column: []byte("a"), TS: 5}, "-"},
	} {
		mark := fmt.Sprint("mark", i)
		m := store.RowMutation{Row: []byte(tc.row), Absent: tc.absent, Require: tc.require, Mutations: []store.Mutation{put(marks, mark, 1, "x")}}
		res, err := f.table.Mutate(ctx, m)
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		want := store.Refused
		if tc.found == "" {
			want = store.Applied
		}
		if got := foundIn(res); res.Outcome != want || got != tc.found {
			t.Errorf("case %d: %v, found %q; want %v, %q", i, res.Outcome, got, want, tc.found)
		}
		if res.Outcome == store.Refused && (string(res.Row) != tc.row || res.Found != nil && (string(res.Found.Row) != tc.row || res.Found.Group != g)) {
			t.Errorf("case %d: the refusal names row %q, cell %+v", i, res.Row, res.Found)
		}
		if cells, _ := f.table.Read(ctx, []byte(tc.row), exact(marks, mark)); (len(cells) == 1) != (want == store.Applied) {
			t.Errorf("case %d: outcome %v, and %d cells were written", i, res.Outcome, len(cells))
		}
	}
}

func foundIn(res store.Result) string {
	switch {
	case res.Outcome != store.Refused:
		return ""
	case res.Found == nil:
		return "-"
	}
	return fmt.Sprintf("%s@%d", res.Found.Column, res.Found.TS)
}

// testOneWinner: of many that put the same cell if it is absent, one succeeds.
func testOneWinner(t *testing.T, open Opener) {
	f := start(t, open)
	const rounds, rivals = 30, 8
	for round := range rounds {
		g := Groups[round%len(Groups)].Name
		name := fmt.Sprint("row", round)
		results := make([]store.Result, rivals)
		var wg sync.WaitGroup
		for i := range rivals {
			wg.Go(func() {
				m := row(name, put(g, "c", uint64(10+i), fmt.Sprint(i)))
				m.Absent = []store.Selector{exact(g, "c")}
				if i%2 == 1 {
					m.Absent = []store.Selector{prefix(g, "")}
				}
				res, err := f.table.Mutate(ctx, m)
				if err != nil {
					t.Error(err)
				}
				results[i] = res
			})
		}
		wg.Wait()
		cells, err := f.table.Read(ctx, []byte(name), prefix(g, ""))
		if err != nil || len(cells) != 1 {
			t.Fatalf("round %d: %s, %v; want one cell", round, show(cells), err)
		}
		for i, res := range results {
			if (res.Outcome == store.Applied) != (cells[0].TS == uint64(10+i)) {
				t.Errorf("round %d: rival %d got %v, the cell is %s", round, i, res.Outcome, show(cells))
			}
			if res.Outcome == store.Refused && (res.Found == nil || res.Found.TS != cells[0].TS) {
				t.Errorf("round %d: rival %d was refused for %+v", round, i, res.Found)
			}
		}
	}
}
