package bigtable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/storetest"
)

// TestOwnTable: a group with sharded keys behaves as any other, in scans of few rows, which
// take one request, and of many, which merge the shards.
func TestOwnTable(t *testing.T) {
	ctx, rng := context.Background(), testenv.Random(t)
	db := openTable(t, ownGroups, Options{})
	defer db.Close()
	model := storetest.NewModel(ownGroups)
	for step, rows := range []int{40, testenv.Size(1200, 1200, 6000)} {
		var batch []store.RowMutation
		for range rows {
			m := store.RowMutation{Row: fmt.Appendf(nil, "%03x", rng.IntN(1<<12)), Mutations: []store.Mutation{put("~notify", fmt.Sprint("o", rng.IntN(2)), 1+rng.Uint64N(9), "")}}
			if rng.IntN(2) == 0 {
				m.Mutations = append(m.Mutations, put("~later", "o", 1+rng.Uint64N(9), "later"))
			}
			if rng.IntN(3) == 0 {
				m.Mutations = append(m.Mutations, put("data", "c", 1, "v"))
			}
			batch = append(batch, m)
		}
		if err := db.Apply(ctx, batch); err != nil {
			t.Fatal(err)
		}
		for _, m := range batch {
			model.Do(m, 0)
		}
		for _, r := range []store.Range{
			{}, {Start: []byte("4")}, {End: []byte("4")}, {Start: []byte("3"), End: []byte("c")}, {ColumnPrefix: []byte("o1")}, {MinTS: 3, MaxTS: 6},
		} {
			r.Group = []string{"~notify", "~later"}[step]
			for _, r.MaxCells = range []int{0, 7, 300, 2000} {
				got, err := scanPages(db, r)
				if err != nil {
					t.Fatal(err)
				}
				if want := model.Scan(r); !slices.EqualFunc(got, want, sameCell) {
					t.Errorf("%+v: %d cells, want %d", r, len(got), len(want))
				}
			}
		}
	}
	boom := errors.New("boom")
	n := 0
	next, err := db.Scan(ctx, store.Range{Group: "~notify", MaxCells: 5}, func(store.Cell) error { n++; return boom })
	if first := model.Scan(store.Range{Group: "~notify"})[0].Row; !errors.Is(err, boom) || n != 1 || string(next) != string(first) {
		t.Errorf("a callback that fails: %q, %v after %d cells", next, err, n)
	}
}

func sameCell(a, b store.Cell) bool {
	return string(a.Row) == string(b.Row) && string(a.Column) == string(b.Column) && a.TS == b.TS && string(a.Value) == string(b.Value)
}

// scanPages scans a range to its end.
func scanPages(db *DB, r store.Range) (cells []store.Cell, err error) {
	for {
		page := 0
		next, err := db.Scan(context.Background(), r, func(c store.Cell) error {
			page++
			cells = append(cells, c)
			return nil
		})
		if err != nil || next == nil {
			return cells, err
		}
		if r.MaxCells == 0 || page < r.MaxCells {
			return nil, fmt.Errorf("a page of %d cells ends before %q", page, next)
		}
		r.Start = next
	}
}

// TestOrderOfTables: a notification is written before what it is about and removed after
// it, and a mutation that is refused leaves at most a notification too many.
func TestOrderOfTables(t *testing.T) {
	db := openTable(t, ownGroups, Options{})
	defer db.Close()
	notify := put("~notify", "o", 5, "")
	forget := store.Mutation{Op: store.DeleteUpTo, Group: "~notify", Column: []byte("o"), TS: 4}
	written, later := put("data", "c", 5, "v"), put("~later", "p", 5, "")
	for _, tc := range []struct {
		name                string
		muts                []store.Mutation
		before, main, after string
	}{
		{"both", []store.Mutation{written, notify}, "o@5", "c@5", ""},
		{"handled and written", []store.Mutation{forget, written}, "", "c@5", "-o@4"},
		{"handled and sent again", []store.Mutation{forget, written, notify}, "o@5", "c@5", "-o@4 o@5"},
		{"only in its table", []store.Mutation{forget, notify}, "", "", "-o@4 o@5"},
		{"another sent", []store.Mutation{forget, later}, "p@5", "", "-o@4"},
		{"another sent, and written", []store.Mutation{forget, notify, later, written}, "p@5 o@5", "c@5", "-o@4 o@5"},
	} {
		p := db.split(&store.RowMutation{Row: []byte("r"), Mutations: tc.muts})
		if got := []string{showMutations(p.before.Mutations), showMutations(p.main.Mutations), showMutations(p.after.Mutations)}; !slices.Equal(got, []string{tc.before, tc.main, tc.after}) {
			t.Errorf("%s: %q", tc.name, got)
		}
	}
	ctx := context.Background()
	res, err := db.Mutate(ctx, store.RowMutation{Row: []byte("r"), Require: &store.CellRef{Group: "lock", Column: []byte("c"), TS: 1}, Mutations: []store.Mutation{written, notify, forget}})
	if err != nil || res.Outcome != store.Refused {
		t.Fatalf("Mutate = %v, %v", res.Outcome, err)
	}
	cells, err := db.Read(ctx, []byte("r"), store.Selector{Group: "data", Prefix: true}, store.Selector{Group: "~notify", Prefix: true})
	if err != nil || len(cells) != 1 || cells[0].Group != "~notify" {
		t.Errorf("after a refusal the row has %v, %v", cells, err)
	}
}

func showMutations(muts []store.Mutation) string {
	var parts []string
	for _, m := range muts {
		s := fmt.Sprintf("%s@%d", m.Column, m.TS)
		if m.Op != store.Put {
			s = "-" + s
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}
