package badgerdb

import (
	"context"
)

// gcDiscardRatio is how much of a value log file must be waste for it to be
// rewritten.
const gcDiscardRatio = 0.5

// RunGC gives back the space of overwritten large values: those above 1 MiB,
// which Badger keeps in its value log. All others are reclaimed by compaction.
// It may run beside everything else; between two files it looks at ctx.
func (db *DB) RunGC(ctx context.Context) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.gate.Leave()
	return db.collectValues(ctx, gcDiscardRatio)
}

// Verify reads all table files and compares checksums, also of files that were verified
// before. The error matches store.ErrCorrupt and names the file.
func (db *DB) Verify(ctx context.Context) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.gate.Leave()
	return checkTables(ctx, db.dir)
}
