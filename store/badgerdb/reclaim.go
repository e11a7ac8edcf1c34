package badgerdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"

	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
	"github.com/webindexer/indexer/store/badgerdb/internal/system"
)

// Reclaim gives back the space of everything that was deleted, all at once, and
// with it the time that scans lose on deleted keys. Left alone, Badger does the
// same over time, as new writes push old ones down.
//
// Deleting a key writes a tombstone on top of it, and both stay until a compaction
// brings them together at the bottom. So:
//
//  1. Badger's discard version is brought up to date: readers may have left since
//     the last write.
//  2. The memtable is written to a table of level 0 (flush). Otherwise its tombstones
//     would not be compacted with the cells that they delete.
//  3. All levels are compacted into one. There is no level below, so tombstones
//     disappear together with the cells that they delete.
//  4. The live values of blob files with much waste are moved to others (blobgc.go).
//  5. So are those of files of the value log, whose waste compaction has counted.
//
// Other calls may run at the same time. Writers wait during step 2, and readers during a
// part of it, which takes seconds if much is in memory. A crash leaves a table that is
// partly compacted; no step changes what can be read. An open snapshot keeps everything
// that it can see.
func (db *DB) Reclaim(ctx context.Context) error {
	return db.reclaim(ctx, func() error {
		if err := db.submit(ctx, &request{alone: db.flush}); err != nil {
			return fmt.Errorf("reclaim space: %w", err)
		}
		if err := db.badger.Flatten(flattenWorkers); err != nil {
			return errs.Run("compacting", err)
		}
		if err := db.collectBlobsOnce(ctx, reclaimRatio); err != nil {
			return err
		}
		return db.collectValues(ctx)
	})
}

// reclaim runs a call that gives back space, one at a time. All tables are verified first: a
// compaction that meets a damaged one never returns (tableGate), and in flush it would hold the
// committer.
func (db *DB) reclaim(ctx context.Context, run func() error) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.gate.Leave()
	db.reclaiming.Lock()
	defer db.reclaiming.Unlock()
	if err := db.verify.needsAll(ctx); err != nil {
		return err
	}
	return run()
}

const (
	// flattenWorkers is 1 because compactions that several workers make at the same time would all have
	// one number (listGuard).
	flattenWorkers = 1
	// reclaimRatio is how much of a blob file or of a file of the value log must be waste for
	// Reclaim to rewrite it.
	reclaimRatio = 0.3
	// flushID begins the one key that flush drops; ids of groups end below.
	flushID = 0xff
)

// flush writes what is in memory to a table of level 0. Badger has no call for that, but
// it does so before it drops all keys with a prefix. So flush writes one key and drops
// it. It runs in the committer's goroutine, because Badger refuses writes while it drops
// keys, instead of making them wait.
//
// If a write fails, the table accepts no more of them. After a failed drop, Badger 4.9.6 may have
// the memtable twice, as the one to write to and as one that is written out: it would release it, and
// then go on reading it.
func (db *DB) flush() error {
	c := db.committer
	txn := db.badger.NewTransactionAt(c.seq, true)
	defer txn.Discard()
	if err := txn.Set([]byte{flushID}, []byte{plainValue}); err != nil {
		return errs.Run("preparing a write", err)
	}
	if err := c.admit(spaceCheckBytes); err != nil {
		return err
	}
	if err := c.own(nil, txn, 1, 2); err != nil {
		return err
	}
	if err := db.blobs.sync(); err != nil {
		return c.fail(err)
	}
	if err := db.tables.place.probe(); err != nil { // nothing has begun
		return errs.Run("making a file", err)
	}
	if err := db.mark.flushing(); err != nil {
		return errs.Run("marking that memory is written out", err)
	}
	if err := errors.Join(db.badger.DropPrefix([]byte{flushID}), db.mark.sawLog(db.dir)); err != nil {
		return c.fail(errs.Run("writing out what is in memory", err))
	}
	c.fill.empty()
	return nil
}

// own commits and publishes a group that no caller has asked for, and that changes no
// cell. After an error the table accepts no more writes.
func (c *committer) own(long []byte, txn *badger.Txn, entries, bytes int) error {
	err := c.commitWith(long, txn, entries, bytes)
	if err == nil {
		err = c.db.mark.advance(c.seq + 1)
	}
	if err != nil {
		return c.fail(err)
	}
	c.seq++
	c.publish()
	return nil
}

// collectValues rewrites files of the value log until none has much waste. Each call of Badger
// may remove every file but the newest, so that one is marked before: Open requires it.
func (db *DB) collectValues(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := db.submit(ctx, &request{alone: db.markValueLog}); err != nil {
			return err
		}
		err := db.badger.RunValueLogGC(reclaimRatio)
		switch {
		case errors.Is(err, badger.ErrNoRewrite), errors.Is(err, badger.ErrRejected):
			return nil // nothing to do, or another call is doing it
		case err != nil:
			return errs.Run("collecting old values", err)
		}
	}
	return ctx.Err()
}

// markValueLog runs in the committer's goroutine.
func (db *DB) markValueLog() error {
	db.mark.sawValueLog(db.dir)
	return db.mark.update()
}

// DiskBytes is what the table's files take on the disk. Badger makes its logs larger
// than what is in them; where the system tells, only what was written counts.
func (db *DB) DiskBytes() (total int64, err error) {
	err = filepath.WalkDir(db.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return ignoreGone(err)
		}
		info, err := d.Info()
		if err != nil {
			return ignoreGone(err)
		}
		total += system.Allocated(info)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("store: measure %s: %w", db.dir, err)
	}
	return total, nil
}

// ignoreGone: files come and go with compactions.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
