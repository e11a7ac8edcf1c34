package repository

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"indexer/notify"
	"indexer/observers"
	"indexer/store/badgerdb"
	"indexer/txn"
)

// Pulse is how the pipeline is at a moment. It costs next to nothing: all of it is in
// memory.
type Pulse struct {
	Time      time.Time
	Opened    time.Time      // when the repository was: all counts begin there
	Observers []notify.Stats // in the order in which they were registered
	// Found is how long pages took from loaded to found, all since the process began.
	Found notify.Distribution
	// Waiting is pages loaded and not found yet; once nothing is left to do there are none.
	Waiting int
	Txns    Transactions
	// NotReady is why no observer would be run just now; nil if they are.
	NotReady error
}

// Transactions counts transactions since the process began.
type Transactions struct {
	Begun, Committed, Conflicts, RolledForward, RolledBack, LockWaits int64
	Running                                                           int64
}

// Pulse takes it.
func (r *Repository) Pulse() Pulse {
	now := time.Now()
	stats := r.observerStats()
	c := r.db.Counters()
	return Pulse{
		Time: now, Opened: r.opened, Observers: stats, Found: r.tracker.All(), Waiting: r.tracker.Waiting(),
		Txns: Transactions{
			Begun: c.Begun.Load(), Committed: c.Committed.Load(), Conflicts: c.Conflicts.Load(),
			RolledForward: c.RolledForward.Load(), RolledBack: c.RolledBack.Load(), LockWaits: c.LockWaits.Load(),
			Running: r.db.Running(),
		},
		NotReady: r.pipeline.Ready(),
	}
}

// observerStats are those of the pipeline. When nothing is left to do, pages that wait to
// be found are forgotten.
func (r *Repository) observerStats() []notify.Stats {
	// The order matters: what was loaded before now, and by a transaction that has ended,
	// is in the backlog until observers are done with it.
	now, ended := time.Now(), r.db.Running() == 0
	stats := r.pipeline.Stats()
	if ended && !slices.ContainsFunc(stats, func(s notify.Stats) bool { return s.Backlog > 0 }) {
		r.tracker.Settle(now)
	}
	return stats
}

// FoundSince is how long the pages took that were found since a time, as far as they
// are among the last.
func (r *Repository) FoundSince(t time.Time) observers.Latency { return r.tracker.Since(t) }

// Found lists the pages that can be found since a time, as far as they are among the last.
func (r *Repository) Found(since time.Time) []observers.Found { return r.tracker.Found(since) }

// Space is what the repository takes on the disk, in bytes, and what was collected.
type Space struct {
	Store, Index int64
	Free         int64 // that may still be written; negative: not known
	// Collected is the garbage that this process has collected, and Collects whether it
	// does.
	Collected txn.Collected
	Collects  bool
	// Kept is how far back the past is kept: from the safe point to the last timestamp,
	// in timestamps. SafeAt is when the safe point was, if that is known.
	Kept   uint64
	SafeAt time.Time
}

// Space measures by asking the file system for every file.
func (r *Repository) Space() (s Space, err error) {
	if s.Store, err = r.table.DiskBytes(); err != nil {
		return s, fmt.Errorf("measure the store: %w", err)
	}
	if s.Index, err = treeBytes(IndexDir(r.dir)); err != nil {
		return s, fmt.Errorf("measure the index: %w", err)
	}
	if s.Free, err = r.FreeBytes(); err != nil {
		s.Free = -1 // the system does not tell
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
func (r *Repository) FreeBytes() (int64, error) { return badgerdb.FreeBytes(StoreDir(r.dir)) }

// treeBytes adds up the files of a directory, those that go meanwhile not counted.
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

// DeadCount is how many rows observers have given up on, by observer.
func (r *Repository) DeadCount(ctx context.Context) (map[string]int, error) {
	letters, err := r.DeadLetters(ctx)
	if err != nil {
		return nil, err
	}
	n := make(map[string]int)
	for _, l := range letters {
		n[l.Observer]++
	}
	return n, nil
}
