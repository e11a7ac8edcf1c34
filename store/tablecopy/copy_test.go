package tablecopy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/internal/pgtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/store/postgres"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Main{M: m}) }

var groups = []store.GroupSpec{{Name: "app"}, {Name: "meta", Latest: true}, {Name: "locks", Latest: true, Resident: true}}

func openMem(t *testing.T) store.Table {
	return opened(t)(mem.New(groups, mem.Options{}))
}

func openBadger(t *testing.T) store.Table {
	return opened(t)(badgerdb.Open(t.TempDir(), groups, badgerdb.Options{MinFreeBytes: -1}))
}

func openPostgres(t *testing.T) store.Table {
	return opened(t)(postgres.Open(t.Context(), pgtest.Shared(t).Schema(t), groups, postgres.Options{}))
}

func opened(t *testing.T) func(store.Table, error) store.Table {
	return func(table store.Table, err error) store.Table {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		testenv.CloseAtEnd(t, table)
		return table
	}
}

// fill writes random cells with any bytes, a row with more cells than a part, and large values.
func fill(t *testing.T, table store.Table) {
	t.Helper()
	random := testenv.Random(t)
	text := func(n int) []byte {
		b := make([]byte, random.IntN(n))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	var rows []store.RowMutation
	for range testenv.Size(100, 500, 20_000) {
		m := store.RowMutation{Row: text(40)}
		for range 1 + random.IntN(5) {
			m.Mutations = append(m.Mutations, store.Mutation{Group: groups[random.IntN(len(groups))].Name, Column: text(5), TS: random.Uint64N(1 << 40), Value: text(200)})
		}
		rows = append(rows, m)
	}
	large := store.RowMutation{Row: []byte("large")}
	for i := range partCells + 10 {
		large.Mutations = append(large.Mutations, store.Mutation{Group: "app", Column: fmt.Append(nil, i), TS: 1})
	}
	rows = append(rows, large)
	for i := range 5 {
		rows = append(rows, store.RowMutation{Row: fmt.Append(nil, "value", i), Mutations: []store.Mutation{{Group: "app", TS: 1, Value: bytes.Repeat(text(100), 20_000)}}})
	}
	if err := table.Apply(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
}

// TestRun copies from engine to engine, and the last copy is the first table.
func TestRun(t *testing.T) {
	tables := []store.Table{openBadger(t), openMem(t), openPostgres(t), openMem(t)}
	fill(t, tables[0])
	var first Result
	for i := range tables[1:] {
		result, err := Run(t.Context(), tables[i], tables[i+1], Options{Group: "meta"})
		if err != nil {
			t.Fatalf("copy %d: %v", i, err)
		}
		if i == 0 {
			first = result
		}
		if fmt.Sprint(result) != fmt.Sprint(first) || result["app"].Cells < partCells {
			t.Errorf("copy %d has %v, the first one %v", i, result, first)
		}
		if half, err := Incomplete(t.Context(), tables[i+1], "meta"); half || err != nil {
			t.Errorf("copy %d: incomplete %v, %v", i, half, err)
		}
	}
}

// TestResume: a copy that ends at any point continues from there.
func TestResume(t *testing.T) {
	from, to := openBadger(t), openMem(t)
	fill(t, from)
	copied, parts := int64(0), 0
	for stopAt := 1; ; stopAt++ {
		ctx, stop := context.WithCancel(t.Context())
		n := 0
		_, err := Run(ctx, from, to, Options{Group: "meta", cells: 300, Progress: func(p Progress) {
			if p.Cells <= copied {
				t.Errorf("%d cells were copied, and then %d", copied, p.Cells)
			}
			copied = p.Cells
			parts++
			if n++; n == 1 {
				stop()
			}
		}})
		stop()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) || stopAt > 100 {
			t.Fatal(err)
		}
		if half, err := Incomplete(t.Context(), to, "meta"); !half || err != nil {
			t.Fatalf("after part %d: incomplete %v, %v", stopAt, half, err)
		}
	}
	if parts < 3 {
		t.Errorf("the copy had %d parts", parts)
	}
	if _, err := Run(t.Context(), from, to, Options{Group: "meta"}); !errors.Is(err, store.ErrForeign) || !strings.Contains(err.Error(), "has no unfinished copy") {
		t.Errorf("a complete copy: %v", err)
	}
}

// TestLeavesOut: groups and cells that belong to processes stay behind, and are not compared.
func TestLeavesOut(t *testing.T) {
	more := append(slices.Clone(groups), store.GroupSpec{Name: "lease"})
	from, to := opened(t)(mem.New(more, mem.Options{})), openMem(t)
	fill(t, from)
	cells := func(group, row string) store.RowMutation {
		return store.RowMutation{Row: []byte(row), Mutations: []store.Mutation{{Group: group, Column: []byte("c"), TS: 1}}}
	}
	if err := from.Apply(t.Context(), []store.RowMutation{cells("lease", "rank"), cells("meta", "process/1")}); err != nil {
		t.Fatal(err)
	}
	opts := Options{Group: "meta", Leave: []string{"lease"}, Skip: func(c store.Cell) bool { return string(c.Row) == "process/1" }}
	if _, err := Run(t.Context(), from, to, opts); err != nil {
		t.Fatal(err)
	}
	if found, err := to.Read(t.Context(), []byte("process/1"), store.Selector{Group: "meta", Prefix: true}); err != nil || len(found) > 0 {
		t.Errorf("the copy has %v, %v", found, err)
	}
	back := opened(t)(mem.New(more, mem.Options{}))
	if err := back.Apply(t.Context(), []store.RowMutation{cells("lease", "rank")}); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), to, back, opts); !errors.Is(err, store.ErrForeign) {
		t.Errorf("a destination with a lease: %v", err)
	}
}

// TestRefuses: what must not be overwritten, or is not the same.
func TestRefuses(t *testing.T) {
	put := func(table store.Table) {
		t.Helper()
		if err := table.Apply(t.Context(), []store.RowMutation{{Row: []byte("r"), Mutations: []store.Mutation{{Group: "app", TS: rand.Uint64N(100), Value: []byte("v")}}}}); err != nil {
			t.Fatal(err)
		}
	}
	from, to := openMem(t), openMem(t)
	put(to)
	if _, err := Run(t.Context(), from, to, Options{Group: "meta"}); !errors.Is(err, store.ErrForeign) || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a destination with a row: %v", err)
	}
	narrow := opened(t)(mem.New(groups[:2], mem.Options{}))
	if _, err := Run(t.Context(), from, narrow, Options{Group: "meta"}); err == nil {
		t.Error("a destination without a group was accepted")
	}
	if _, err := Run(t.Context(), from, openMem(t), Options{Group: "app"}); err == nil {
		t.Error("a group that is not Latest was accepted")
	}
	// Without snapshots, a write to the source in the middle is noticed.
	source := opened(t)(mem.New(groups, mem.Options{TwoPhaseOnly: true}))
	fill(t, source)
	_, err := Run(t.Context(), source, openMem(t), Options{Group: "meta", Progress: func(Progress) {
		if err := source.Apply(t.Context(), []store.RowMutation{{Row: []byte{0}, Mutations: []store.Mutation{{Group: "app", Column: []byte("late"), TS: 1}}}}); err != nil {
			t.Error(err)
		}
	}})
	if err == nil || !strings.Contains(err.Error(), "was written to during the copy") {
		t.Errorf("a source that changed: %v", err)
	}
}

// TestManyCells copies a row whose cells are small, but many.
func TestManyCells(t *testing.T) {
	from, to := openMem(t), openBadger(t)
	large := store.RowMutation{Row: []byte("large")}
	for i := range to.Limits().MaxBatchBytes / 100 { // an engine counts 100 bytes for a cell
		large.Mutations = append(large.Mutations, store.Mutation{Group: "app", Column: fmt.Append(nil, i), TS: 1})
	}
	if err := from.Apply(t.Context(), []store.RowMutation{large}); err != nil {
		t.Fatal(err)
	}
	result, err := Run(t.Context(), from, to, Options{Group: "meta"})
	if err != nil || result["app"].Cells != int64(len(large.Mutations)) {
		t.Errorf("%v, %v", result, err)
	}
}

// TestLargeRow: a row with more bytes than a transaction of a table with little memory may have is copied.
func TestLargeRow(t *testing.T) {
	from := openMem(t)
	for i := range 6 {
		m := store.RowMutation{Row: []byte("row")}
		for ts := range uint64(1000) {
			m.Mutations = append(m.Mutations, store.Mutation{Group: "app", Column: []byte("c"), TS: uint64(i)*1000 + ts + 1, Value: bytes.Repeat([]byte("v"), 1000)})
		}
		if err := from.Apply(t.Context(), []store.RowMutation{m}); err != nil {
			t.Fatal(err)
		}
	}
	to := opened(t)(badgerdb.Open(t.TempDir(), groups, badgerdb.Options{MinFreeBytes: -1, MemoryBytes: 1}))
	if result, err := Run(t.Context(), from, to, Options{Group: "meta"}); err != nil || result["app"].Cells != 6000 {
		t.Errorf("%v, %v", result, err)
	}
}
