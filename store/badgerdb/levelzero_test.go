package badgerdb

import (
	"fmt"
	"testing"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/manifest"
)

func TestLevelZeroTables(t *testing.T) {
	const memTable = 64 << 20
	for _, c := range []struct {
		name    string
		usually int
		count   int
		bytes   int64
		want    int
	}{
		{"empty", 5, 0, 0, 5},
		{"some small ones", 5, 4, 4096, 9},
		{"as many small ones as it may have", 5, 20, 1 << 20, 20},
		{"more than that", 5, 21, 1 << 20, 20},
		{"full ones", 5, 4, 4 * memTable, 5},
		{"full and small ones", 5, 9, 3*memTable + 4096, 11},
		{"full enough", 5, 9, 6 * memTable, 9},
		{"small memtables", 20, 7, 4096, 20},
	} {
		if got := levelZeroTables(c.usually, c.count, c.bytes, memTable); got != c.want {
			t.Errorf("%s: a compaction starts at %d tables, want %d", c.name, got, c.want)
		}
	}
}

// TestSmallTables: processes that write little leave tables in level 0, and no compaction starts until
// there are many.
func TestSmallTables(t *testing.T) {
	dir := t.TempDir()
	const processes = mostLevelZero - 1
	for i := range processes {
		db := openTest(t, dir, Options{MemoryBytes: 512 << 20})
		if o := db.badger.Opts(); o.NumLevelZeroTables <= i || o.NumLevelZeroTablesStall <= o.NumLevelZeroTables {
			t.Errorf("with %d tables in level 0, a compaction starts at %d, and writes stall at %d", i, o.NumLevelZeroTables, o.NumLevelZeroTablesStall)
		}
		for row := range 10 {
			mustMutate(t, db, fmt.Sprint("row", row), store.Mutation{Group: "data", Column: []byte("c"), TS: uint64(i), Value: []byte("v")})
		}
		closeTest(t, db)
		m, err := manifest.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		for id, level := range m.Levels {
			if level > 0 {
				t.Errorf("after %d processes, table %d is in level %d", i+1, id, level)
			}
		}
		if len(m.Levels) != i+1 {
			t.Errorf("%d tables after %d processes", len(m.Levels), i+1)
		}
	}
	db := openTest(t, dir, Options{})
	defer closeTest(t, db)
	if n, err := countCells(t.Context(), db); err != nil || n != 10*processes {
		t.Errorf("%d cells, %v; want %d", n, err, 10*processes)
	}
}
