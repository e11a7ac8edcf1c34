package badgerdb

import (
	"context"
	"errors"

	"github.com/webindexer/indexer/store/badgerdb/internal/tablefile"
)

// gcDiscardRatio is how much of a value log file must be waste for it to be
// rewritten.
const gcDiscardRatio = 0.5

// RunGC gives back the space of overwritten values in blob files and in Badger's value log.
// Compaction reclaims all others. RunGC may run concurrently with everything else; between
// two files it checks ctx.
func (db *DB) RunGC(ctx context.Context) error {
	return db.reclaim(ctx, func() error {
		if err := db.collectBlobsOnce(ctx, blobWaste); err != nil {
			return err
		}
		return db.collectValues(ctx, gcDiscardRatio)
	})
}

// Verify reads all table files and all long values, including those that were verified
// before, and compares checksums. The error matches store.ErrCorrupt and names the file.
func (db *DB) Verify(ctx context.Context) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.gate.Leave()
	return errors.Join(tablefile.CheckListed(ctx, db.dir), db.verifyBlobs(ctx))
}
