package badgerdb

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"

	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
)

// Every long value must be on the disk before a table file that has its pointer. Badger
// writes such a table when a memtable is full: a commit finds it full, hands it to a
// goroutine that writes the table, and continues in a new memtable. Badger has no hook
// between the two. It logs a line (flushingMemtable), but only once the goroutine may run.
//
// So the committer itself counts what is in the memtable, and before it commits to one that
// may be full, it syncs the values of all earlier groups. The count is an upper bound
// (memtableFill), too high by a few thousandths. In that stretch each commit syncs what was
// added since the previous one, which is little. So that the committer never waits for
// long, a goroutine syncs whenever syncAhead bytes have accumulated.
//
// The line in the log resets the count. It also checks it: if a memtable was full before
// the count said so, the values are synced at once, and Stats.LateSyncs counts it. Then,
// for the milliseconds of that sync, a crash of the machine could leave a table without its
// values. Tests check that this never happens.

const (
	syncAhead        = 8 << 20
	flushingMemtable = "Flushing memtable"
)

// sync returns when all that was appended is on the disk.
func (b *blobs) sync() error {
	b.syncing.Lock()
	defer b.syncing.Unlock()
	upTo := b.written.Load()
	if b.failed != nil || b.synced.Load() >= upTo {
		return b.failed
	}
	if err := b.newest.file.Sync(); err != nil {
		b.failed = fmt.Errorf("store: syncing %s: %w", b.name(b.newest.number), err)
		return b.failed
	}
	b.synced.Store(upTo)
	return nil
}

// dirty reports whether something may not be on the disk yet.
func (b *blobs) dirty() bool { return b.synced.Load() < b.written.Load() }

// syncInBackground syncs until the context ends. It leaves an error to the committer.
func (b *blobs) syncInBackground(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.due:
			_ = b.sync() // the committer's next sync returns it
		}
	}
}

// memtableFill bounds how full Badger's memtable is. Badger considers one full when its
// skip list or its log has the size of a memtable.
//
// In the skip list, an entry takes its key, its value, nodeBytes, and 4 bytes for each
// level of its node. The height of a node is random: each further level has a
// probability of a third. So it is 3/2 on average, and hardly more over many entries:
// the bound is the mean plus 16 standard deviations.
type memtableFill struct {
	size    int64 // of a full one
	flushes *atomic.Uint64
	seen    uint64 // of flushes
	entries int64
	bytes   int64 // of keys and values
	groups  int64
}

const (
	nodeBytes    = 34         // without levels; 8 of them are Badger's version, and 3 head the value
	levelsMean   = 4 * 1.5    // bytes
	levelsSpread = 4 * 0.8661 // standard deviation
	fillSlack    = 8 << 10    // what opening a table writes, and the first node
	// In the log, an entry has a head, a checksum and Badger's version. Each
	// transaction adds one more entry.
	logEntryBytes = 24
	logGroupBytes = 64
)

// mayBeFull reports whether the next commit may find the memtable full.
func (m *memtableFill) mayBeFull() bool {
	n := float64(m.entries)
	list := m.bytes + m.entries*nodeBytes + int64(n*levelsMean+16*levelsSpread*math.Sqrt(n))
	log := m.bytes + m.entries*logEntryBytes + m.groups*logGroupBytes
	return max(list, log)+fillSlack >= m.size
}

// add counts a group that was committed. It reports whether Badger began a new memtable
// for it.
func (m *memtableFill) add(entries, bytes int) (flushed bool) {
	if n := m.flushes.Load(); n != m.seen {
		m.seen, flushed = n, true
		m.empty()
	}
	m.entries += int64(entries)
	m.bytes += int64(bytes)
	m.groups++
	return flushed
}

// empty notes that the memtable is new.
func (m *memtableFill) empty() { m.entries, m.bytes, m.groups = 0, 0, 0 }

// commitWith commits a transaction of the given numbers of entries and bytes at the next
// sequence number, together with the long values that it points to. The caller holds
// writeMu; after an error, the table accepts no more writes.
func (c *committer) commitWith(long []byte, txn *badger.Txn, entries, bytes int) error {
	files := c.db.blobs
	if c.fill.mayBeFull() {
		if err := files.sync(); err != nil {
			return err
		}
	}
	behind := files.dirty() // of what is in the memtable
	if err := files.append(long); err != nil {
		return errs.Run("writing", err)
	}
	if c.sync {
		if err := files.sync(); err != nil {
			return err
		}
	}
	if err := c.commitAt(txn); err != nil {
		return errs.Run("writing", err)
	}
	if !c.fill.add(entries, bytes) {
		return nil
	}
	if behind {
		c.stats.lateSyncs.Add(1)
		if err := files.sync(); err != nil {
			return err
		}
	}
	return c.db.mark.sawLog(c.db.dir)
}

// commitAt commits a transaction at the next sequence number. If the memtable is full, Badger waits
// until it has written out an earlier one. Badger tries that for ever, so commitAt returns after
// failsMany failures. Badger may still write the transaction later, from the planner's buffers:
// they are not used again, because the table accepts no more writes.
func (c *committer) commitAt(txn *badger.Txn) error {
	if !c.fill.mayBeFull() {
		return txn.CommitAt(c.seq+1, nil)
	}
	done := make(chan error, 1)
	if err := txn.CommitAt(c.seq+1, func(err error) { done <- err }); err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	case <-c.db.failed.many:
		return c.db.failed.err()
	}
}

// isLong reports whether a value of a group is kept in a blob file.
func (db *DB) isLong(g *group, value []byte) bool {
	return !g.Latest && len(value) >= db.blobBytes
}
