package badgerdb

import (
	"context"
	"path/filepath"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"

	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/store/badgerdb/internal/system"
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
		if n, known := system.MappedResident(); known && n > most {
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
	dir, err := filepath.Abs(badgerDir(db.dir))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return 0 // the pages stay
	}
	for _, m := range system.Mappings() {
		if filepath.Dir(m.File) == dir && held[filepath.Base(m.File)] && m.Unmap() {
			files++
		}
	}
	return files
}
