package badgerdb

import (
	"errors"
	"fmt"
	"testing"

	"github.com/webindexer/indexer/store"
)

// TestSizes checks that the parts of a table fit into its memory, and that a transaction
// of the largest group fits into a memtable.
func TestSizes(t *testing.T) {
	for _, memory := range []int64{1, 64 << 20, 200 << 20, 0, 1 << 30, 16 << 30} {
		s := sizesFor(memory, 0)
		const memTables = 2
		took := int64(memTables*arenaPerMemTable*float64(s.memTable)+2.4*float64(s.memTable)) + s.blockCache + int64(s.cells)*(hintBytes+40)
		if most := max(memory, 128<<20); memory > 0 && took > most {
			t.Errorf("of %d MiB the table takes %d: %+v", memory>>20, took>>20, s)
		}
		if s.softGroup >= s.hardGroup || int64(s.hardGroup) >= s.memTable*15/100 {
			t.Errorf("%d MiB: %+v", memory>>20, s)
		}
	}
	if s := sizesFor(64<<20, 60<<20); s.memTable <= leastMemTable || s.memTable > mostMemTable {
		t.Errorf("a memtable of %d for a log of 60 MiB", s.memTable)
	}
}

// TestLessMemoryAfterKill checks that the logs of a process with large memtables can be
// replayed by one that may take less memory.
func TestLessMemoryAfterKill(t *testing.T) {
	dir := t.TempDir()
	db := openTest(t, dir, Options{MemoryBytes: 2 << 30})
	const rows = 1 << 18 // small cells take the most memory in proportion to their log
	for i := 0; i < rows; {
		var batch []store.RowMutation
		for range 1 << 13 {
			batch = append(batch, store.RowMutation{Row: fmt.Appendf(nil, "%06d", i), Mutations: []store.Mutation{mutation("data", "c", 1, "v")}})
			i++
		}
		if err := db.Apply(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	killed := copyOpen(t, dir)
	closeTest(t, db)
	db = openTest(t, killed, Options{MemoryBytes: 1})
	defer closeTest(t, db)
	if n, err := countCells(t.Context(), db); err != nil || n != rows {
		t.Errorf("%d cells, %v; want %d", n, err, rows)
	}
}

// TestLargeBatch checks that a batch larger than a memtable has room for is refused before
// anything happens, and that values for blob files do not count.
func TestLargeBatch(t *testing.T) {
	db := openTest(t, t.TempDir(), Options{MemoryBytes: 1, BlobBytes: 512 << 10})
	defer closeTest(t, db)
	batch := func(cells, size int) error {
		m := store.RowMutation{Row: []byte("r")}
		for i := range cells {
			m.Mutations = append(m.Mutations, mutation("data", fmt.Sprint(i), 1, string(make([]byte, size))))
		}
		_, err := db.Mutate(t.Context(), m)
		return err
	}
	if err := batch(7, 1<<20); err != nil {
		t.Errorf("7 MiB in large values: %v", err)
	}
	if err := batch(70, 100<<10); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("7 MiB in small values: %v, want ErrTooLarge", err)
	}
	if n, err := countCells(t.Context(), db); err != nil || n != 7 {
		t.Errorf("%d cells, %v", n, err)
	}
}
