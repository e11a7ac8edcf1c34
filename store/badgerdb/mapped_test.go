package badgerdb

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
)

func TestParseMappings(t *testing.T) {
	text := `00400000-0165e000 r-xp 00000000 fe:00 1054    /usr/bin/indexer
c000000000-c004000000 rw-p 00000000 00:00 0
7f2a10000000-7f2a10200000 rw-s 00000000 fe:00 99                   /data/with space/000002.sst
7f2a10200000-7f2a10400000 rw-s 00000000 fe:00 98                   /data/000001.sst (deleted)
7fff0000-7fff1000 rw-p 00000000 00:00 0                            [stack]
zzz-7fff1000 rw-s 00000000 fe:00 97 /data/000003.sst
`
	want := []mapping{{0x400000, 0x165e000, "/usr/bin/indexer"}, {0x7f2a10000000, 0x7f2a10200000, "/data/with space/000002.sst"}}
	if got := parseMappings([]byte(text)); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}

// TestUnmapTables unmaps tables while others read, write and compact.
func TestUnmapTables(t *testing.T) {
	if _, known := mappedResident(); !known {
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
