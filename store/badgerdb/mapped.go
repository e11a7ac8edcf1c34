package badgerdb

import (
	"bufio"
	"bytes"
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"

	"github.com/webindexer/indexer/internal/sleep"
)

// Badger maps its table files. Pages that were read stay in the process's resident
// memory until the system needs the room. So after a compaction of everything the process
// seems to use as much memory as the store is large. The system does not mind, but users
// do, and so do control groups that count mapped files.
//
// So when the mapped files exceed their share, their pages are unmapped. The pages stay
// in the system's cache, and the next reader maps them again, for about a
// microsecond each.
//
// Danger: Badger may unmap a file at any moment, and the Go runtime may get the same
// addresses for its heap, whose pages would then be emptied. Therefore the program
// touches only tables that an open iterator holds: Badger does not unmap a table that is
// in use. An iterator holds the tables that existed both before and after it was made,
// because numbers of tables are not reused.

const (
	mappedEvery = time.Second
	leastMapped = 64 << 20
)

// trimMapped keeps the mapped files below a number of bytes until the context ends.
func (db *DB) trimMapped(ctx context.Context, most int64) {
	for sleep.For(ctx, mappedEvery) == nil {
		if n, known := mappedResident(); known && n > most {
			db.unmapTables()
		}
	}
}

// unmapTables unmaps the pages of all table files, and returns how many files they were.
func (db *DB) unmapTables() (files int) {
	before := map[uint64]bool{}
	for _, t := range db.badger.Tables() {
		before[t.ID] = true
	}
	v := db.views.acquire()
	defer db.views.release(v)
	it := v.txn.NewIterator(badger.IteratorOptions{})
	defer it.Close()
	held := map[string]bool{}
	for _, t := range db.badger.Tables() {
		if before[t.ID] {
			held[table.IDToFilename(t.ID)] = true
		}
	}
	dir, err := filepath.Abs(filepath.Join(db.dir, badgerDir))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return 0 // the pages stay
	}
	for _, m := range mappings() {
		if filepath.Dir(m.file) == dir && held[filepath.Base(m.file)] && unmapPages(m.from, m.to) {
			files++
		}
	}
	return files
}

// mapping is a file that is mapped.
type mapping struct {
	from, to uintptr
	file     string
}

// parseMappings reads what Linux says in /proc/self/maps. Lines of other kinds, and of
// files that were removed, are left out.
func parseMappings(text []byte) (list []mapping) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 || !strings.HasPrefix(fields[5], "/") || strings.HasSuffix(lines.Text(), " (deleted)") {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		a, aerr := strconv.ParseUint(from, 16, 64)
		b, berr := strconv.ParseUint(to, 16, 64)
		if aerr != nil || berr != nil || a >= b {
			continue
		}
		_, file, _ := strings.Cut(lines.Text(), fields[4]+" ")
		list = append(list, mapping{from: uintptr(a), to: uintptr(b), file: strings.TrimLeft(file, " ")})
	}
	return list
}
