package badgerdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/badgerdb/internal/dirfile"
	"github.com/webindexer/indexer/store/badgerdb/internal/errs"
	"github.com/webindexer/indexer/store/badgerdb/internal/hints"
	"github.com/webindexer/indexer/store/badgerdb/internal/manifest"
	"github.com/webindexer/indexer/store/badgerdb/internal/memlog"
	"github.com/webindexer/indexer/store/badgerdb/internal/newest"
	"github.com/webindexer/indexer/store/badgerdb/internal/system"
	"github.com/webindexer/indexer/store/internal/engine"
)

// Open opens the table in a directory, or makes one in a missing or empty one.
//
// Groups that the table does not have yet are added. It is an error to leave out
// one that it has, or to change its Latest; Resident and Scanned may change.
//
// The error matches store.ErrInUse if another process, or this one, has the
// directory open; store.ErrForeign if it holds something else, which is not
// touched; store.ErrNewerFormat; store.ErrCorrupt; store.ErrNoSpace.
func Open(dir string, groups []store.GroupSpec, opts Options) (*DB, error) {
	opts.Logger = loggerOf(opts.Logger)
	schema, err := engine.NewSchema(groups)
	if err != nil {
		return nil, err
	}
	fresh, err := checkStamp(dir)
	if err != nil {
		return nil, err
	}
	if fresh {
		if err := newSpaceGuard(existingParent(dir), opts.MinFreeBytes).admit(0); err != nil {
			return nil, err
		}
		if err := writeStamp(dir); err != nil {
			return nil, err
		}
	}
	verify := newVerifier(dir, opts.Logger)
	tables := newTableGate(dir, verify, opts.Logger)
	f, err := openFiles(dir, opts, tables)
	if err != nil {
		return nil, err
	}
	verify.start(f.badger.Tables())
	sizes := sizesFor(opts.MemoryBytes, f.mark.replay)
	db := &DB{
		dir: dir, files: f, verify: verify, tables: tables, schema: schema, queue: make(chan *request, queueLength),
		seed: maphash.MakeSeed(), sizes: sizes, hints: hints.New(cmp.Or(opts.HintCells, sizes.cells)),
		blobBytes: cmp.Or(opts.BlobBytes, defaultBlobBytes), wantKnown: make(chan struct{}, 1),
	}
	db.collecting, db.stopCollecting = context.WithCancel(context.Background())
	db.checker = engine.Checker{Schema: schema, Limits: limits, Overhead: opOverhead}
	if err := db.start(opts); err != nil {
		db.stopCollecting()
		verify.stop()
		return nil, errors.Join(err, f.mark.close(), db.closeOrLeave(), f.blobs.close(), f.release())
	}
	return db, nil
}

// files are the files of an open table.
type files struct {
	badger  *badger.DB
	mark    *mark // guarded by the committer's writeMu
	blobs   *blobs
	flushes atomic.Uint64 // of memtables that were full
	failed  *failedFlushes
	release func() error // of the directory
}

// openFiles holds the directory, checks what is there, writes the mark's baseline, and only
// then lets Badger open: from there on the mark counts.
func openFiles(dir string, opts Options, tables *tableGate) (*files, error) {
	release, held, err := system.Lock(dir) // Badger's lock begins too late for the checks
	if err != nil {
		return nil, err
	}
	if !held {
		return nil, errs.InUse(dir)
	}
	f := &files{release: release, failed: newFailedFlushes()}
	if f.blobs, err = openBlobs(dir); err == nil {
		err = f.openBadger(dir, opts, tables)
	}
	if err != nil {
		if errs.FailedIO(err) && !errors.Is(err, store.ErrIO) {
			err = fmt.Errorf("%w: opening %s: %w", store.ErrIO, dir, err)
		}
		return nil, errors.Join(err, f.blobs.close(), release())
	}
	return f, nil
}

func (f *files) openBadger(dir string, opts Options, tables *tableGate) error {
	m, err := resume(dir, opts, tables.verify, f.blobs)
	if err != nil {
		return err
	}
	sizes := sizesFor(opts.MemoryBytes, m.replay)
	if err := sizes.admitLevelZero(dir, m.list); err != nil {
		return errors.Join(err, m.close())
	}
	if err := tables.place.open(); err != nil {
		return errors.Join(errs.Open(dir, err), m.close())
	}
	log := f.badgerLog(opts.Logger, tables, guardList(dir, m.list, f.failed.fail))
	b, err := f.openManaged(badgerOptions(badgerDir(dir), opts, sizes, log))
	if err != nil {
		return errors.Join(errs.Open(dir, err), m.close())
	}
	if bad := log.ignoredTables(); len(bad) > 0 {
		err = errs.Corrupt(dir, "wrong checksum in %s", strings.Join(bad, ", "))
	}
	if err := errors.Join(err, m.open(dir)); err != nil {
		return errors.Join(err, m.close(), b.Close())
	}
	f.badger, f.mark = b, m
	return nil
}

// badgerLog makes the logger of Badger.
func (f *files) badgerLog(to Logger, tables *tableGate, list *listGuard) *badgerLog {
	return &badgerLog{
		to: to, flushes: &f.flushes, failed: f.failed.note,
		making: func(compactor int, keys uint64) {
			tables.wait()
			list.making(compactor, keys)
		},
		compacted: func(compactor int) {
			list.ended(compactor)
			tables.verify.noteChange()
		},
	}
}

// resume checks the files of a table against its mark and writes the baseline. A table of
// format 1 has no mark yet. Its format rises, so that no program opens it that would leave
// the mark behind.
func resume(dir string, opts Options, verify *verifier, values *blobs) (*mark, error) {
	format, err := readStamp(dir)
	if err != nil {
		return nil, err
	}
	old, err := readMark(dir)
	if err != nil {
		return nil, err
	}
	if old == nil && format >= formatMarked {
		if files, err := dirfile.Matching(badgerDir(dir), "*"); err != nil || len(files) > 0 {
			return nil, errs.Corrupt(markFile(dir), "it is missing")
		}
	}
	from, err := checkFiles(dir, old, opts, verify, values)
	if err != nil {
		return nil, err
	}
	if err := removeLeftovers(dir); err != nil {
		return nil, err
	}
	from.Sync = opts.SyncWrites
	m, err := newMark(dir, from)
	if err != nil || format == formatNow {
		return m, err
	}
	return m, writeStamp(dir)
}

// removeLeftovers removes the temporary files of killed processes. FORMAT's stay: another
// process may be about to rename one.
func removeLeftovers(dir string) error {
	return errors.Join(dirfile.RemoveTemps(dir, markName), dirfile.RemoveTemps(dir, verifiedName), dirfile.RemoveTemps(dir, knownName), dirfile.RemoveTemps(dir, residentName),
		dirfile.RemoveMatching(badgerDir(dir), probeFiles))
}

// start reads what is kept in memory and starts the committer.
func (db *DB) start(opts Options) error {
	// Compaction may have dropped the last group, if that only deleted, and a crash of
	// the machine may have lost some. Their numbers are not given again.
	db.seqAtOpen = max(db.badger.MaxVersion(), db.mark.Group)
	fresh := db.seqAtOpen == 0
	stored, err := db.describe()
	if err != nil {
		return err
	}
	sets, err := db.loadResidents(context.Background())
	if err != nil {
		return err
	}
	if fresh {
		db.known.Store(newKnown(db.sizes.known, db.groups))
	} else if k := db.readKnown(); k != nil {
		db.known.Store(k)
		db.knownRead = true
	}
	db.newest = newest.New(cmp.Or(opts.NewestCells, db.sizes.newest), stored[:], fresh)
	if err := db.mark.advance(db.seqAtOpen); err != nil {
		return err
	}
	db.views = newViews(db.seqAtOpen, emptyGroups(sets), db.readerAt)
	db.badger.SetDiscardTs(db.seqAtOpen)
	space := newSpaceGuard(badgerDir(db.dir), opts.MinFreeBytes)
	space.place = db.tables.place
	return db.startGoroutines(&committer{
		db:        db,
		planner:   planner{db: db, seed: db.seed},
		residents: sets,
		bounds:    stored,
		space:     space,
		stats:     &db.stats,
		step:      opts.Step,
		seq:       db.seqAtOpen,
		sync:      opts.SyncWrites,
		fill:      memtableFill{size: db.sizes.memTable, flushes: &db.flushes, seen: db.flushes.Load()},
	})
}

func (db *DB) startGoroutines(c *committer) error {
	pool, err := builderPool(db.badger)
	if err != nil {
		return err
	}
	db.committer = c
	db.blobs.waste.Store(db.mark.Waste)
	db.running.Go(c.run)
	db.running.Go(func() { db.makeKnown(db.collecting) })
	db.running.Go(func() { db.blobs.syncInBackground(db.verify.ctx) })
	db.running.Go(func() { db.collectBlobs(db.collecting) })
	db.running.Go(func() { db.trimMapped(db.verify.ctx, db.sizes.mapped) })
	db.running.Go(func() { freeBuilders(db.verify.ctx, pool) })
	return nil
}

// describe reads the table of groups and the bounds, and stores new groups.
func (db *DB) describe() (stored bounds, err error) {
	if err := db.verify.needs([]byte{metaID}); err != nil {
		return stored, err
	}
	txn := db.badger.NewTransactionAt(db.seqAtOpen, true)
	defer txn.Discard()
	text, err := getMeta(txn, groupsKey)
	if err != nil {
		return stored, err
	}
	groups, table, changed, err := numberGroups(db.schema, string(text))
	if err != nil {
		return stored, err
	}
	db.groups = groups
	text, err = getMeta(txn, boundsKey)
	if err != nil {
		return stored, err
	}
	if err := stored.decode(groups, text); err != nil {
		return stored, err
	}
	if !changed {
		return stored, nil
	}
	if err := txn.Set(groupsKey, []byte(table)); err != nil {
		return stored, errs.Run("storing the table of groups", err)
	}
	if err := txn.CommitAt(db.seqAtOpen+1, nil); err != nil {
		return stored, errs.Run("storing the table of groups", err)
	}
	db.seqAtOpen++
	return stored, nil
}

// DB is a table on Badger. It implements store.Table, store.Snapshotter and
// store.Committer.
type DB struct {
	dir string
	*files
	verify    *verifier
	tables    *tableGate
	schema    *engine.Schema
	checker   engine.Checker
	groups    []group // by number
	seqAtOpen uint64
	views     *views
	seed      maphash.Seed // of the hashes of columns
	hints     *hints.Table // nil for none
	newest    *newest.Table
	blobBytes int // the length of the shortest long value
	sizes     sizes
	queue     chan *request
	callers   atomic.Int64 // in submit
	committer *committer
	running   sync.WaitGroup // the goroutines that start began
	gate      engine.Gate
	stats     counters

	reclaiming sync.Mutex // of passes over the pointers, and of Reclaim
	emptiedAt  uint64     // the view in which the last pass has emptied blob files; guarded by reclaiming

	known     atomic.Pointer[known] // nil if there is none and none is being made
	knownRead bool                  // it was read from a file
	misses    atomic.Int64          // reads that found nothing, without a filter
	wantKnown chan struct{}         // holds an element once the filter is wanted

	// collecting ends when the table is about to be closed.
	collecting     context.Context
	stopCollecting context.CancelFunc
}

// group returns a group that is known to exist.
func (db *DB) group(name string) *group {
	i, err := db.schema.Group(name)
	if err != nil {
		return nil // callers have checked the name
	}
	return &db.groups[i]
}

// Close waits for running calls and releases the directory. Open snapshots stop
// working. It must not be called from within a Scan.
func (db *DB) Close() error {
	db.stopCollecting()
	if !db.gate.Close() {
		return nil
	}
	close(db.queue) // all senders have left the gate
	db.verify.stop()
	db.running.Wait()
	err := db.closeBadger()
	if err == nil {
		err = db.verify.damage()
	}
	return errors.Join(err, db.blobs.close(), db.release())
}

// closeBadger writes out what is in memory, and marks that all of it is on the disk.
func (db *DB) closeBadger() error {
	if err := db.blobs.sync(); err != nil { // before Badger writes tables that point into them
		return errors.Join(db.leave(err), db.mark.close())
	}
	if err := db.mark.flushing(); err != nil { // its logs would seem to be lost
		return errors.Join(db.leave(err), db.mark.close())
	}
	if err := errors.Join(db.closeOrLeave(), db.mark.close()); err != nil {
		return errs.Run("closing "+db.dir, err)
	}
	listGuards.Delete(badgerDir(db.dir))
	// Badger does not report that it could not remove a log.
	if err := dirfile.RemoveMatching(badgerDir(db.dir), "*"+memlog.Suffix); err != nil {
		return err
	}
	list, err := manifest.Read(db.dir)
	if err != nil {
		return err
	}
	was := db.mark.baseline
	db.mark.baseline = baseline{State: stateClosed, Boot: system.BootID(), Sync: db.mark.Sync, Group: db.mark.group, NextLog: 1, List: list.Mark(), Waste: db.blobs.waste.Load()}
	if err := db.mark.write(db.dir); err != nil {
		return err
	}
	// Everything is closed and marked. What saves time at the next opening must not fail this one,
	// for which the disk may be too full.
	if err := errors.Join(db.verify.record(), db.recordKnown(was), db.recordResidents()); err != nil {
		db.tables.log.Warnf("the next opening takes longer: %v", err)
	}
	return nil
}
