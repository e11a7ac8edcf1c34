package badgerdb

import (
	"context"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"indexer/store"
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

// Verify reads all table files and compares checksums; the error matches
// store.ErrCorrupt. While running, Badger treats a block that it cannot read like
// keys that are not there, so this is the way to be sure. It holds the blocks of
// one table file in memory, and looks at ctx only before it starts.
func (db *DB) Verify(ctx context.Context) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.gate.Leave()
	return verify(db.dir, db.badger)
}

// verify turns the panic into an error that Badger 4.9.6 answers a bad block with
// (Table.VerifyChecksum uses the block that it just failed to read). The panic is
// in this goroutine and leaves no lock held.
func verify(dir string, b *badger.DB) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: a block of a table file in %s cannot be read (%v); restore it from a backup, or rebuild it", store.ErrCorrupt, dir, p)
		}
	}()
	if err := b.VerifyChecksum(); err != nil {
		return fmt.Errorf("%w: in %s: %w; restore it from a backup, or rebuild it", store.ErrCorrupt, dir, err)
	}
	return nil
}
