package repository

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/lease"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/txn"
)

// Share says how a process takes part in a repository whose table several processes share.
// Then the data directory of each process holds only index files, if the process keeps any.
type Share struct {
	// Coordination connects the process to the others.
	Coordination *txn.Coordination
	// Works says that the process runs observers. Other processes only load and read.
	Works bool
	// Alone says that no other process uses the table. So an index that the user has to move away
	// or to replace makes the process fail: nobody else can take the lease.
	Alone bool
	// Leases are the leases that a process that works wants to hold (observers.LeaseRank,
	// observers.LeaseIndex, LeaseGarbage).
	Leases []string
	// Shards is the number of shards into which the index files are divided, among the
	// processes that work and want observers.LeaseIndex; 0: one. The table records the
	// number, and processes that want another number are refused, unless Reshard says to
	// change it. That is possible only while no process keeps index files.
	Shards  int
	Reshard bool
	// Search is the address at which the process answers searches of its shards; "": it
	// answers none.
	Search string
	// CollectEvery is how often the holder of LeaseGarbage collects the garbage of the whole
	// table; 0: every ten minutes.
	CollectEvery time.Duration
}

// LeaseGarbage is the lease of the process that collects garbage in the background. Two
// such processes at a time are safe, but do the work twice.
const LeaseGarbage = "garbage"

// ErrNobody means that a request needs the holder of a lease, and no process holds it.
var ErrNobody = lease.ErrNobody

// shared reports whether other processes may use the table.
func (r *Repository) shared() bool { return r.share != nil }

// startShared completes start for a process that shares the table.
//
// What a single process does when it opens its repository, the holder of a lease does when it
// gets the lease: the holder of LeaseIndex handles the index files, and the holder of LeaseRank
// the tolerance of the ranks, the version of the interpreter and the settings of office
// documents, PDF documents and rendering.
func (r *Repository) startShared(ctx context.Context) error {
	if !r.share.Works {
		if err := r.pipeline.Attach(ctx, r.db); err != nil {
			return err
		}
		r.runTask(ctx, r.watchDeath)
		return nil
	}
	if err := r.pipeline.Start(ctx, r.db); err != nil {
		return err
	}
	r.leases.Start(ctx) // it also notices the death of this process
	r.runTask(ctx, r.collectShared)
	return nil
}

// runTask runs a task until Close.
func (r *Repository) runTask(ctx context.Context, task func(context.Context)) {
	ctx, r.stopTask = context.WithCancel(context.WithoutCancel(ctx))
	r.task.Go(func() { task(ctx) })
}

// watchDeath makes the pipeline fail when other processes have found this process dead.
func (r *Repository) watchDeath(ctx context.Context) {
	for sleep.For(ctx, time.Second) == nil {
		if err := r.db.FoundDead(ctx); err != nil {
			r.pipeline.Fail(err)
			return
		}
	}
}

// collectShared collects garbage for as long as this process holds the lease.
func (r *Repository) collectShared(ctx context.Context) {
	ticker := time.NewTicker(cmp.Or(r.share.CollectEvery, 10*time.Minute))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if !r.leases.Held(LeaseGarbage) {
			continue
		}
		got, err := r.db.Collect(ctx, txn.CollectOptions{Queue: r.pipeline})
		switch {
		case err == nil:
			r.log.Info("collected garbage", zap.Int("records", got.Removed()))
		case ctx.Err() == nil:
			r.log.Warn("could not collect garbage, will try again", zap.Error(err))
		}
	}
}

// newLeases returns the manager of the leases of this process.
func (r *Repository) newLeases(opts Options) (*lease.Manager, error) {
	place, err := r.place()
	if err != nil {
		return nil, err
	}
	o := lease.Options{
		Place:  place,
		Lost:   func(err error) { r.pipeline.Fail(err) }, // the pipeline is made later
		Failed: r.noteNoLease,
		Resumed: func() {
			r.log.Warn("other processes see again that this process is alive: it keeps its leases")
		},
	}
	r.makeWants(opts)
	for _, name := range r.share.Leases {
		if name == observers.LeaseIndex && r.shards != nil {
			o.Balanced = r.shards.balanced()
			continue
		}
		want, ok := r.wants[name]
		if !ok {
			return nil, fmt.Errorf("unknown lease %q; want %s, %s or %s", name, observers.LeaseRank, observers.LeaseIndex, LeaseGarbage)
		}
		o.Wants = append(o.Wants, want)
	}
	return lease.New(r.db, r.share.Coordination.Liveness, o), nil
}

// noteNoLease notes that this process could not take a lease, or do a task that goes with one.
func (r *Repository) noteNoLease(err error) {
	if r.share.Alone && canReplace(err) {
		r.pipeline.Fail(err)
		return
	}
	r.log.Warn("could not take or use a lease, will try again", zap.Error(err))
}

// makeWants makes wants: all leases that this process may hold, with what it does when it gains
// them, and what it does for other processes while it has them.
func (r *Repository) makeWants(opts Options) {
	gained := map[string]func(context.Context) error{
		observers.LeaseIndex: func(ctx context.Context) error { return r.takeIndex(ctx, opts) },
		observers.LeaseRank: func(ctx context.Context) error {
			if err := r.matchRanks(ctx, opts.RankTolerance); err != nil {
				return err
			}
			return r.matchMeaning(ctx, opts)
		},
		LeaseGarbage: func(context.Context) error { return nil },
	}
	tasks := map[string]map[string]lease.Task{
		observers.LeaseIndex: {taskReindex: func(ctx context.Context, progress func(int)) (any, error) { return r.reindex(ctx, progress) }},
		observers.LeaseRank:  {taskSolve: func(ctx context.Context, _ func(int)) (any, error) { return r.solveRanks(ctx) }},
	}
	r.wants = make(map[string]lease.Want)
	for name, prepare := range gained {
		level := zap.InfoLevel
		r.wants[name] = lease.Want{Name: name, Tasks: tasks[name], Gained: func(ctx context.Context) error {
			if err := prepare(ctx); err != nil {
				level = zap.WarnLevel // the log has the failure, so it also gets the recovery
				return err
			}
			r.log.Log(level, "this process now holds a lease", zap.String("lease", name))
			level = zap.InfoLevel
			return nil
		}}
	}
	if r.shards != nil {
		for _, want := range r.shards.wants() {
			r.wants[want.Name] = want
		}
	}
}

// place returns where this process runs.
func (r *Repository) place() (p lease.Place, err error) {
	p.Process = os.Getpid()
	if r.share != nil {
		p.Search = r.share.Search
	}
	if p.Host, err = os.Hostname(); err != nil {
		return p, fmt.Errorf("find the name of this machine: %w", err)
	}
	if p.Data, err = filepath.Abs(r.dir); err != nil {
		return p, fmt.Errorf("find the data directory: %w", err)
	}
	return p, nil
}

// takeIndex opens the index files of this process when it has become the process that writes
// index files. Whatever the last writer exported is in the table (package lease), so the
// files are compared with the table, as after a crash. Comparing the sums of documents is not
// enough here: these files may be older, with the same documents but other ranks or times.
func (r *Repository) takeIndex(ctx context.Context, opts Options) error {
	if err := r.files.close(); err != nil { // left by an attempt that failed later
		return err
	}
	r.wrote = written{}
	return r.openIndex(ctx, opts)
}

var errOtherWriter = fmt.Errorf("%w: another process may have exported to files of its own", index.ErrBehind)

// IndexHolder returns the process that writes the index files, or nil if none does, or if
// this repository is not shared.
func (r *Repository) IndexHolder(ctx context.Context) (h *lease.Holder, err error) {
	if !r.shared() {
		return nil, nil
	}
	err = r.db.View(ctx, func(tx *txn.Txn) error {
		h, err = lease.HolderOf(ctx, tx, observers.LeaseIndex)
		return err
	})
	return h, err
}

// hasIndex reports whether this process can read the index: either the index is not made of
// files, or the files in the data directory are kept up to date, by this process or by another
// one on this machine. If this process has just taken the lease, hasIndex waits until the files
// have caught up: until then they may be older than the store. A process that is alone will take it.
func (r *Repository) hasIndex(ctx context.Context) (bool, error) {
	if !r.shared() || r.other != nil {
		return true, nil
	}
	if r.shards != nil {
		list, err := r.shardsHere(ctx)
		return len(list) > 0, err
	}
	for {
		h, err := r.IndexHolder(ctx)
		if err != nil || h == nil && !r.share.Alone {
			return false, err
		}
		if h == nil || r.leases.Preparing(observers.LeaseIndex, h) || r.share.Alone && !r.leases.Keeps(observers.LeaseIndex) {
			if err := cmp.Or(r.pipeline.Err(), sleep.For(ctx, preparingEvery)); err != nil {
				return false, err
			}
			continue
		}
		here, err := r.place()
		return err == nil && h.Place.SameDirectory(here) && index.Exists(IndexDir(r.dir)), err
	}
}

// preparingEvery is how often a process checks whether it has prepared for a lease.
const preparingEvery = 20 * time.Millisecond

// Waiting counts, by observer, the rows that wait for observers. In a repository that
// several processes share it asks the table.
func (r *Repository) Waiting(ctx context.Context) (map[string]int, error) {
	if !r.shared() {
		return r.Live().Backlog, nil
	}
	waiting := make(map[string]int)
	err := r.db.EachNotification(ctx, func(notes []txn.Notification) error {
		for _, n := range notes {
			waiting[n.Observer]++
		}
		return nil
	})
	return waiting, err
}

// Documents counts the documents of the index, as the table has them.
func (r *Repository) Documents(ctx context.Context) (int, error) {
	tx, err := snapshot.Now(ctx, r.db)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	s, err := storedState(ctx, tx)
	return s.Documents, err
}

// Failure returns the error that has stopped the observers of this process, or nil.
func (r *Repository) Failure() error { return r.pipeline.Err() }
