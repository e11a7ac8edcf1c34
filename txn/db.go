package txn

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/webindexer/indexer/store"
)

// Mode chooses a commit path.
type Mode int

// The commit paths.
const (
	// Auto uses OnePhase if the table supports it, and TwoPhase otherwise.
	Auto Mode = iota
	// OnePhase applies a whole transaction as one atomic batch (onephase.go).
	OnePhase
	// TwoPhase is the paper's protocol (prewrite.go, commit.go).
	TwoPhase
)

// Options are the options of a DB. The zero value is ready to use.
type Options struct {
	Mode Mode
	// Observers names the observers that a write to a column wakes: each gets a
	// strong notification, in the transaction that writes. nil: none.
	Observers func(Column) []string
	// Leased reports whether only the holder of a lease may run an observer. In a table that
	// several processes share, notifications of such observers have a group of their own: see
	// leased.go. nil: none.
	Leased func(observer string) bool
	// Handover receives the notifications of a transaction right after its commit, in the
	// goroutine that committed. It must not block. The notify column is the source of
	// truth; Handover only makes looking for notifications unnecessary.
	Handover func([]Notification)
	// Written receives the cells of each transaction that has committed, or whose outcome is
	// unknown, with the commit timestamp or a greater one. Commit calls it in its own goroutine,
	// before Counters count the transaction. It must not block. nil: it is not called.
	Written func(commit uint64, cells iter.Seq[Cell])
	// LockTTL is the age at which a lock counts as abandoned even if its
	// owner's token is alive. 0 means 10 s.
	LockTTL time.Duration
	// History is how long to keep versions that no reader needs any more, so that
	// the past can be read (DB.At). 0 keeps none: see gc.go.
	History time.Duration
	// Coordination connects the DB to other processes that use the table at the same time.
	// Transactions then commit in two phases. nil: this process is the only one.
	Coordination *Coordination
	// Step is called between the steps of a commit, with the name of the next
	// step (steps.go). An error fails the transaction there, and the transaction
	// cleans up as after any failure; an error that matches ErrCrash
	// leaves everything unchanged, as if the process had died. For tests.
	Step func(step string, cell Cell) error

	// Only tests set these: sizes of the oracle, 0 for usualSizes; replacements for
	// inlineLimit and maxCells; and resolver, the Step of transactions that resolve
	// locks.
	sizes    oracleSizes
	inline   int
	cells    int
	resolver func(step string, cell Cell) error
}

// DB runs transactions on a table.
type DB struct {
	table     store.Table
	committer store.Committer // nil without the capability
	snapshots store.Snapshotter
	oracle    *oracle      // nil if shared is not
	shared    *sharedClock // nil without Options.Coordination
	liveness  Liveness
	opts      Options
	mode      Mode
	counters  Counters
	running   atomic.Int64
	fair      fairQueue
	point     *safePoint
	published published // what this DB reads, for other processes
	gc        garbage
}

// Open prepares a table for transactions. The table must have been opened with
// the groups of Groups. The caller closes it after Close.
func Open(ctx context.Context, table store.Table, opts Options) (*DB, error) {
	if opts.LockTTL == 0 {
		opts.LockTTL = 10 * time.Second
	}
	if opts.inline == 0 {
		opts.inline = inlineLimit
	}
	if opts.cells == 0 {
		opts.cells = maxCells
	}
	if opts.sizes == (oracleSizes{}) {
		opts.sizes = usualSizes
	}
	db := &DB{table: table, opts: opts, mode: opts.Mode}
	db.committer, _ = table.(store.Committer)
	db.snapshots, _ = table.(store.Snapshotter)
	if err := db.chooseMode(); err != nil {
		return nil, err
	}
	if err := checkGroups(table); err != nil {
		return nil, err
	}
	if err := db.begin(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// begin reads what the table records about earlier processes, and records this one.
func (db *DB) begin(ctx context.Context) (err error) {
	if c := db.opts.Coordination; c != nil {
		db.liveness = c.Liveness
	} else if db.liveness, err = openEpoch(ctx, db.table); err != nil {
		return err
	}
	if db.point, err = openSafePoint(ctx, db.table, db.opts.History); err != nil {
		return err
	}
	if err := db.openClock(ctx); err != nil {
		return err
	}
	if db.Shared() {
		err = db.joinReaders(ctx)
	} else {
		err = db.moveAllLeased(ctx)
	}
	if err != nil {
		return err
	}
	return db.noteTime(ctx, time.Now(), true)
}

// openClock decides where timestamps come from.
func (db *DB) openClock(ctx context.Context) (err error) {
	if c := db.opts.Coordination; c != nil {
		db.shared = &sharedClock{Timestamps: c.Timestamps}
		_, err = db.Now(ctx)
		return err
	}
	if db.oracle, err = openOracle(ctx, db.table, db.opts.sizes, db.step); err != nil {
		return err
	}
	if db.committer != nil {
		db.committer.UseClock(db.oracle)
	}
	return nil
}

func (db *DB) chooseMode() error {
	shared := db.opts.Coordination != nil
	switch {
	case db.mode == OnePhase && shared:
		return fmt.Errorf("%w: a table that several processes share cannot commit in one phase, because one process would have to hand out all timestamps; leave the commit mode on auto", ErrMode)
	case db.mode == Auto && shared:
		db.mode = TwoPhase
	case db.mode == Auto && db.committer != nil:
		db.mode = OnePhase
	case db.mode == Auto:
		db.mode = TwoPhase
	case db.mode == OnePhase && db.committer == nil:
		return fmt.Errorf("%w: this store cannot commit a transaction in one phase; leave the commit mode on auto", ErrMode)
	}
	return nil
}

func checkGroups(table store.Table) error {
	have := make(map[string]bool)
	for _, g := range table.Groups() {
		have[g.Name] = true
		if strings.Contains(g.Name, "\x00") {
			return fmt.Errorf("txn: locality group %q: names must not hold a zero byte", g.Name)
		}
		if strings.HasPrefix(g.Name, "~") && !slices.ContainsFunc(Groups(), func(own store.GroupSpec) bool { return own.Name == g.Name }) {
			return fmt.Errorf("txn: locality group %q: names that start with ~ are reserved", g.Name)
		}
	}
	for _, g := range Groups() {
		if !have[g.Name] {
			return fmt.Errorf("txn: the table was opened without the group %q; open it with txn.Groups(…)", g.Name)
		}
	}
	return nil
}

// Close releases the DB; the table stays open. No transaction may be running.
func (db *DB) Close() error {
	if db.oracle != nil {
		db.oracle.close()
	}
	return db.leaveReaders()
}

// Mode returns the commit path in use.
func (db *DB) Mode() Mode { return db.mode }

// Running is the number of transactions that have begun and have neither committed nor
// been rolled back.
func (db *DB) Running() int64 { return db.running.Load() }

// Counters counts what transactions did since Open.
type Counters struct {
	Begun, Committed, Conflicts    atomic.Int64
	RolledForward, RolledBack      atomic.Int64
	LockWaits, TooLargeForOnePhase atomic.Int64
}

// Counters returns the counters of this DB.
func (db *DB) Counters() *Counters { return &db.counters }

// step lets a test stop the protocol.
func (db *DB) step(name string, c Cell) error {
	if db.opts.Step == nil {
		return nil
	}
	return db.opts.Step(name, c)
}

// resolverStep is step for transactions that resolve locks. It does not call
// Options.Step, which stops commits.
func (db *DB) resolverStep(name string, c Cell) error {
	if db.opts.resolver == nil {
		return nil
	}
	return db.opts.resolver(name, c)
}
