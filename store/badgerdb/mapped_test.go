package badgerdb

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/webindexer/indexer/store/badgerdb/internal/system"
)

// TestUnmapTables unmaps tables while others read, write and compact.
func TestUnmapTables(t *testing.T) {
	if _, known := system.MappedResident(); !known {
		t.Skip("skipped: this system does not tell what is mapped")
	}
	dir, want := closedTable(t)
	db := openTest(t, dir, Options{MemoryBytes: 1})
	defer closeTest(t, db)
	var running sync.WaitGroup
	stop := make(chan struct{})
	defer running.Wait()
	defer close(stop)
	running.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			mustMutate(t, db, fmt.Sprint("more", i), mutation("data", "c", 1, "v"))
			if i%50 == 0 {
				if err := db.Reclaim(t.Context()); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	unmapped := 0
	rows := slices.Sorted(maps.Keys(want))
	for round := range 10 {
		unmapped += db.unmapTables()
		for i := round; i < len(rows); i += 10 {
			row, value := rows[i], want[rows[i]]
			if got := readRow(t, db, row); got != fmt.Sprintf("data:c@1=%.20s", value) {
				t.Fatalf("%s: %q", row, got)
			}
		}
	}
	if unmapped == 0 {
		t.Error("no table was unmapped")
	}
}
