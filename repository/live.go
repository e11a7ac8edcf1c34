package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/store/badgerdb"
	"github.com/webindexer/indexer/txn"
)

// Sample is the state of the pipeline at one moment. It costs little, because all of it is in
// memory.
type Sample struct {
	Time      time.Time
	Opened    time.Time      // when the repository was opened: all counts begin there
	Observers []notify.Stats // in the order in which they were registered
	// Found is how long pages took from load to searchable, for all pages since the process
	// began.
	Found notify.Distribution
	// Waiting is how many loaded pages are not searchable yet; 0 once all work is done.
	Waiting int
	Txns    Transactions
	// Unreadable counts documents without a text since the process began.
	Unreadable observers.Unreadable
	// NotReady is the reason why observers are not running, or nil if they are.
	NotReady error
	// Elsewhere is Repository.Elsewhere. If it is set, the figures are those of this
	// process; Repository.Waiting counts what waits for the other processes.
	Elsewhere bool
}

// Transactions counts transactions since the process began.
type Transactions struct {
	Begun, Committed, Conflicts, RolledForward, RolledBack, LockWaits int64
	Running                                                           int64
}

// Sample returns the current state of the pipeline.
func (r *Repository) Sample() Sample {
	now := time.Now()
	stats := r.observerStats()
	c := r.db.Counters()
	return Sample{
		Time: now, Opened: r.opened, Observers: stats, Found: r.tracker.All(), Waiting: r.tracker.Waiting(),
		Txns: Transactions{
			Begun: c.Begun.Load(), Committed: c.Committed.Load(), Conflicts: c.Conflicts.Load(),
			RolledForward: c.RolledForward.Load(), RolledBack: c.RolledBack.Load(), LockWaits: c.LockWaits.Load(),
			Running: r.db.Running(),
		},
		Unreadable: r.tracker.Unreadable(), NotReady: r.pipeline.Ready(),
		Elsewhere: r.Elsewhere(),
	}
}

// Elsewhere reports whether other processes of a deployment run the observers, and this one does
// not.
func (r *Repository) Elsewhere() bool { return r.shared() && !r.share.Works }

// observerStats returns the statistics of all observers. If all work is done, it also
// forgets the pages that were waiting to be found.
func (r *Repository) observerStats() []notify.Stats {
	// The order matters: everything that completed transactions have loaded is in the
	// backlog until observers have handled it.
	now, ended := time.Now(), r.db.Running() == 0
	stats := r.pipeline.Stats()
	if ended && !slices.ContainsFunc(stats, func(s notify.Stats) bool { return s.Backlog > 0 }) {
		r.tracker.ForgetBefore(now)
	}
	return stats
}

// FoundSince returns how long it took the pages that became searchable since a time, as
// far as they are still remembered.
func (r *Repository) FoundSince(t time.Time) observers.Latency { return r.tracker.Since(t) }

// Found lists the pages that became searchable since a time, as far as they are still
// remembered.
func (r *Repository) Found(since time.Time) []observers.Found { return r.tracker.Found(since) }

// Space says how many bytes the repository takes on disk, and how much garbage was
// collected. A store that is not on a disk of this machine counts as 0.
type Space struct {
	Store, Index int64
	Free         int64 // free bytes on the disk; negative if unknown
	// Collected is the garbage that this process has collected. Collects says whether it
	// collects any.
	Collected txn.Collected
	Collects  bool
	// Kept is the number of timestamps between the safe point and the last timestamp.
	// SafeAt is the time of the safe point, if known.
	Kept   uint64
	SafeAt time.Time
}

// Space asks the file system for the size of every file.
func (r *Repository) Space() (s Space, err error) {
	if local, ok := r.table.(onDisk); ok {
		if s.Store, err = local.DiskBytes(); err != nil {
			return s, fmt.Errorf("measure the store: %w", err)
		}
	}
	if s.Index, err = treeBytes(IndexDir(r.dir)); err != nil {
		return s, fmt.Errorf("measure the index: %w", err)
	}
	if s.Free, err = r.FreeBytes(); err != nil {
		s.Free = -1 // the system does not say
	}
	if r.collector != nil {
		s.Collected, s.Collects = r.collector.Total(), true
	}
	safe := r.db.SafePoint()
	s.Kept = r.db.LastTimestamp() - min(safe, r.db.LastTimestamp())
	if at, _, ok := r.tracing.clock.At(safe); ok {
		s.SafeAt = at
	}
	return s, nil
}

// FreeBytes returns how many bytes may still be written to the disk of the repository.
func (r *Repository) FreeBytes() (int64, error) {
	if _, ok := r.table.(onDisk); ok {
		return badgerdb.FreeBytes(StoreDir(r.dir))
	}
	return badgerdb.FreeBytes(r.dir) // the index files are in it
}

// treeBytes adds up the sizes of the files in a directory. Files that disappear meanwhile
// are not counted.
func treeBytes(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				total += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return total, err
}

// DeadCount returns how many rows each observer has given up on. There may be millions.
func (r *Repository) DeadCount(ctx context.Context) (map[string]int, error) {
	n := make(map[string]int)
	if err := notify.EachDeadLetter(ctx, r.db, func(l notify.DeadLetter) { n[l.Observer]++ }); err != nil {
		return nil, err
	}
	return n, nil
}
