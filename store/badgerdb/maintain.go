package badgerdb

import (
	"context"
	"errors"
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
	for ctx.Err() == nil {
		err := db.badger.RunValueLogGC(gcDiscardRatio)
		switch {
		case errors.Is(err, badger.ErrNoRewrite), errors.Is(err, badger.ErrRejected):
			return nil // nothing to do, or another call is at it
		case err != nil:
			return runError("collecting old values", err)
		}
	}
	return ctx.Err()
}

// Verify reads all table files and compares checksums; the error matches
// store.ErrCorrupt. While running, Badger treats a block that it cannot read like
// keys that are not there, so this is the way to be sure.
func (db *DB) Verify(ctx context.Context) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.gate.Leave()
	if err := db.badger.VerifyChecksum(); err != nil {
		return fmt.Errorf("%w: %w", store.ErrCorrupt, err)
	}
	return nil
}
