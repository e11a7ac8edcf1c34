package badgerdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
)

// A long value whose cell was deleted, or replaced, is waste. A pass over the pointers finds
// out how much of each blob file is waste. If a file has much of it, the remaining values
// are written again, like any other write, and the file is removed. Unlike the collector of
// Badger's value log, a pass cannot bring a deleted cell back: a value is moved by a group
// of writes, under writeMu, if its cell still exists and points to it. So a later delete has
// a greater sequence number than the moved pointer.
//
// A file may be removed when nothing can ever read it again:
//
//   - No pointer in the newest view leads to it, which a second pass verifies, and no new
//     one will: values are only ever appended to the newest file, which is not removed.
//   - No older view is open. An older view may see a pointer that has been replaced.
//   - What was in memory is in tables (flush). Otherwise a machine that crashes could
//     lose the moved pointers, and so bring the old ones back.
//
// A process that dies in between leaves duplicate values, which are waste, and files
// without values, which the next pass removes.
//
// A pass reads all keys, but no long values. So passes are made when about a third of the
// blob files is waste, and by Reclaim. The committer estimates how much is waste
// (wasteEstimate); a pass finds out.
const (
	leastWaste    = 64 << 20 // for a pass
	blobPassEvery = 5 * time.Second
	// blobWaste is the fraction of a file that must be waste for it to be collected.
	blobWaste = 0.4
	// leastCollected is the smallest size at which the newest file is collected.
	leastCollected = 1 << 20
	// The bounds of a group of values that are moved together, in keys and bytes.
	movedKeys  = 256
	movedBytes = 1 << 20
)

// collectBlobs makes passes until the context ends.
func (db *DB) collectBlobs(ctx context.Context) {
	for sleep.For(ctx, blobPassEvery) == nil {
		if !db.blobs.passDue() {
			continue
		}
		if err := db.passBlobs(ctx); err != nil && ctx.Err() == nil {
			db.tables.log.Warnf("collecting waste in blob files: %v", err)
		}
	}
}

// passDue reports whether there is enough waste for a pass. If the last pass found no file with
// enough of it, because it is spread evenly, the next one waits until there is an eighth more.
func (b *blobs) passDue() bool {
	waste, futile := b.waste.Load(), b.futile.Load()
	return waste >= b.leastWaste && waste >= b.total.Load()/3 && waste >= futile+futile/8
}

// passBlobs makes one pass. After an error, the next one waits until the files have grown. If the
// table is closed before the end, the next process makes the pass.
func (db *DB) passBlobs(ctx context.Context) error {
	return db.reclaim(ctx, func() error {
		if db.views.oldest() < db.emptiedAt {
			return nil // readers still hold what the last pass has emptied
		}
		waste := db.blobs.waste.Swap(0)
		err := db.collectBlobsOnce(ctx, blobWaste)
		if err != nil && ctx.Err() != nil {
			db.blobs.waste.Add(waste)
		}
		return err
	})
}

// wasteEstimate estimates how much becomes waste. Each cell that is removed counts as one
// average long value if its column has had long values since the table was opened. To learn
// the actual sizes, the removed values would have to be read.
type wasteEstimate struct {
	columns      map[string]struct{} // a group's id and a column
	name         []byte              // scratch
	count, bytes int64               // of long values
}

// wasteColumns bounds the columns that are remembered. There are few, unless rows have long
// values in columns of their own; then all removed cells count.
const wasteColumns = 64

func (w *wasteEstimate) put(g *group, column []byte, length int) {
	w.count++
	w.bytes += int64(length)
	w.name = append(append(w.name[:0], g.id), column...)
	if _, ok := w.columns[string(w.name)]; !ok && len(w.columns) < wasteColumns {
		if w.columns == nil {
			w.columns = map[string]struct{}{}
		}
		w.columns[string(w.name)] = struct{}{}
	}
}

// removed returns roughly how much waste a removed cell leaves.
func (w *wasteEstimate) removed(g *group, column []byte) int64 {
	if w.count == 0 || g.Latest {
		return 0
	}
	w.name = append(append(w.name[:0], g.id), column...)
	if _, ok := w.columns[string(w.name)]; !ok && len(w.columns) < wasteColumns {
		return 0
	}
	return w.bytes / w.count
}

// collectBlobsOnce empties and removes the blob files whose share of waste is at least
// waste. The caller holds reclaiming.
func (db *DB) collectBlobsOnce(ctx context.Context, waste float64) error {
	usage, _, err := db.blobUsage(ctx)
	if err != nil {
		return err
	}
	victims := map[uint32]*blobFile{}
	for number, f := range db.blobs.all() {
		size := f.size.Load() - int64(len(blobHeader))
		if float64(size-usage[number]) >= waste*float64(size) {
			victims[number] = f
		}
	}
	if err := db.submit(ctx, &request{alone: func() error { return db.blobs.spare(victims) }}); err != nil {
		return err
	}
	if len(victims) == 0 {
		db.noteWaste(usage)
		db.blobs.futile.Store(db.blobs.waste.Load())
		return nil
	}
	db.blobs.futile.Store(0)
	if err := db.moveBlobs(ctx, victims); err != nil {
		return fmt.Errorf("move values out of blob files: %w", err)
	}
	if err := db.submit(ctx, &request{alone: db.flush}); err != nil {
		return err
	}
	usage, db.emptiedAt, err = db.blobUsage(ctx)
	if err != nil {
		return err
	}
	if db.views.oldest() >= db.emptiedAt { // otherwise the next pass removes the files
		for number, f := range victims {
			if usage[number] == 0 {
				err = errors.Join(err, db.blobs.remove(f))
			}
		}
	}
	db.noteWaste(usage)
	return err
}

// noteWaste replaces the estimate by the result of a pass.
func (db *DB) noteWaste(usage map[uint32]int64) {
	waste := db.blobs.total.Load()
	for _, n := range usage {
		waste -= n
	}
	db.blobs.waste.Store(max(waste, 0))
}

// all returns the current files.
func (b *blobs) all() map[uint32]*blobFile {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return maps.Clone(b.files)
}

// spare begins a new file if the newest one is to be collected. If that has few bytes,
// which is not worth it, spare takes it out of victims instead. It runs in the
// committer's goroutine.
func (b *blobs) spare(victims map[uint32]*blobFile) error {
	f := b.newest
	if f == nil || victims[f.number] == nil {
		return nil
	}
	if f.size.Load() < leastCollected {
		delete(victims, f.number)
		return nil
	}
	return b.rotate()
}

// blobUsage returns how many bytes of each blob file the newest view can see, and the sequence
// number of that view.
func (db *DB) blobUsage(ctx context.Context) (usage map[uint32]int64, seq uint64, err error) {
	v := db.views.acquire()
	defer db.views.release(v)
	usage = map[uint32]int64{}
	err = v.eachPointer(ctx, func(_ []byte, p pointer) error {
		usage[p.file] += int64(p.length)
		return nil
	})
	return usage, v.seq, err
}

// eachPointer calls fn for the pointers of all cells. The key is valid until fn returns.
func (r *reader) eachPointer(ctx context.Context, fn func(key []byte, p pointer) error) error {
	for i := range r.db.groups {
		if g := &r.db.groups[i]; !g.Latest {
			if err := r.pointersOf(ctx, g, fn); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *reader) pointersOf(ctx context.Context, g *group, fn func(key []byte, p pointer) error) error {
	prefix := []byte{g.id}
	it, err := r.iterator(prefix)
	if err != nil {
		return err
	}
	defer it.Close()
	visited := 0
	for it.Seek(prefix); it.ValidForPrefix(prefix); it.Next() {
		if visited++; visited%ctxEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		item := it.Item()
		if item.ValueSize() != pointerBytes {
			continue
		}
		var (
			p  pointer
			ok bool
		)
		err := item.Value(func(stored []byte) error {
			p, ok = parsePointer(stored)
			return nil
		})
		if err != nil {
			return valueError(err)
		}
		if !ok {
			continue
		}
		if err := fn(item.Key(), p); err != nil {
			return err
		}
	}
	return nil
}

// moveBlobs writes the remaining values of some files again.
func (db *DB) moveBlobs(ctx context.Context, victims map[uint32]*blobFile) error {
	v := db.views.acquire()
	defer db.views.release(v)
	var (
		keys [][]byte
		size int
	)
	move := func() error {
		some := keys
		keys, size = nil, 0
		return db.submit(ctx, &request{alone: func() error { return db.moveSome(some, victims) }})
	}
	err := v.eachPointer(ctx, func(key []byte, p pointer) error {
		if victims[p.file] == nil {
			return nil
		}
		keys = append(keys, bytes.Clone(key))
		if size += len(key) + int(p.length); size < movedBytes && len(keys) < movedKeys {
			return nil
		}
		return move()
	})
	if err == nil && len(keys) > 0 {
		err = move()
	}
	return err
}

// moveSome makes one group of writes for moveBlobs. It runs in the committer's goroutine.
func (db *DB) moveSome(keys [][]byte, victims map[uint32]*blobFile) error {
	c := db.committer
	rd := &db.views.current.Load().reader
	txn := db.badger.NewTransactionAt(c.seq, true)
	defer txn.Discard()
	var (
		long  []byte
		moved []pointer
		kept  [][]byte // their keys
	)
	for _, key := range keys {
		stored, err := rd.get(key)
		if err != nil {
			return err
		}
		p, ok := parsePointer(stored)
		if !ok || victims[p.file] == nil { // deleted or replaced meanwhile
			continue
		}
		if long, err = db.blobs.read(long, p); err != nil {
			return err
		}
		moved, kept = append(moved, p), append(kept, key)
	}
	if len(kept) == 0 {
		return nil
	}
	if err := c.admit(len(long)); err != nil {
		return err
	}
	file, offset, err := db.blobs.next(len(long))
	if err != nil {
		return err
	}
	inline := 0
	for i, p := range moved {
		p.file, p.offset, offset = file, offset, offset+p.length
		if err := txn.SetEntry(badger.NewEntry(kept[i], p.append(nil))); err != nil {
			return errs.Run("preparing a write", err)
		}
		inline += len(kept[i]) + pointerBytes
	}
	return c.own(long, txn, len(kept), inline)
}

// verifyBlobs reads all long values and compares checksums.
func (db *DB) verifyBlobs(ctx context.Context) error {
	v := db.views.acquire()
	defer db.views.release(v)
	var value []byte
	return v.eachPointer(ctx, func(_ []byte, p pointer) (err error) {
		value, err = db.blobs.read(value[:0], p)
		return err
	})
}
