package txn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/webindexer/indexer/store"
)

// Garbage collection. The paper does not describe it. The order of the steps is TiKV's,
// which fixed several bugs before it was right (tikv#7364, docs-cn#679, tidb#11453).
//
// # The order
//
//  1. Raise the safe point P in memory, as far as open transactions,
//     pins and the history allow. From here on DB.At below P fails.
//  2. Publish P in the table (gcpoint.go).
//  3. Resolve every lock with a start timestamp below P. If one
//     cannot be resolved yet, nothing is collected this time.
//  4. Collect the versions that no reader at P or above can see (gccell.go). In each
//     cell, these are the writes below the newest one at or below P, with their data;
//     that newest one too, if it is a deletion; rollback records below P; lock-only
//     records at or below P; records of cells read for update at or below P
//     (forupdate.go). In each cell the oldest is removed first.
//  5. Collect acknowledgements of cells that no longer exist (gcacks.go).
//
// # Why no transaction misses a collected version
//
// Claim 1: no transaction reads below P. Open transactions registered before
// they took their timestamps, and P is at most the least of these (gcreaders.go). Later
// transactions get greater timestamps. Readers of the past are refused, or were registered
// before P was raised, under the same mutex.
//
// Claim 2: after step 3 no lock below P belongs to a transaction that has committed or
// can commit. A transaction with a start below P has ended (claim 1: it is registered
// until its Commit returns). A transaction that has ended does not commit later: it sends
// the mutation of its commit point only after all its prewrites were applied, and gives
// up only after that mutation can no longer be applied. So if it committed, all its locks
// existed when step 3 looked, and were rolled forward. A delayed prewrite may still
// arrive and leave a lock, but the lock belongs to a transaction that never commits.
//
// Claim 3: only collection changes the part of a cell at or below P. A
// commit timestamp is taken after the start, so it is above P for all open
// transactions; and step 3 resolved the transactions that ended or died.
//
// Readers: a reader at S >= P needs the newest write at or below S. That is the newest
// one at or below P, or a later one. Neither is removed, unless it is a deletion, which
// reads like no write at all. Older writes are removed before it, so a reader between two
// steps, or after a crash between them, never sees an older value reappear.
//
// Writers: a prewrite checks writes, rollbacks and acknowledgements from its own
// start, and these are all at or above P.
//
// Readers of a primary: a transaction looks up a primary only for a lock whose
// transaction may still be undecided. The records that decide carry that transaction's
// start S. If S >= P they exist: a write record has a commit timestamp above S, so above
// P, and rollback records are removed only below P. If S < P the lock is one of the late
// locks of claim 2. Its transaction did not commit, and a missing record is rightly
// answered by a new rollback record. So a rollback record is never removed while a
// prewrite of its transaction could still take effect (tikv#7364), but only after the
// transaction has ended. A transaction that resolves a lock during step 3 may find the
// primary's record collected, and write a rollback record there. Its second step requires
// the lock to exist and fails, so only that record remains, for the next collection.
//
// # What a crash leaves
//
//	before step 2   nothing; P is unchanged
//	after step 2    a safe point with nothing collected; reads below it fail already
//	in step 3       fewer locks; each of them had to be resolved anyway
//	in step 4       a cell without some of its oldest versions; or data whose write
//	                record is gone, which the next full collection finds
//	in step 5       fewer acknowledgements of cells that no longer exist
//
// # When
//
// A Collector works beside transactions (gcrun.go). Each commit records the versions that
// it replaced, if it has read them, or else the cells that it wrote (gcqueue.go). When
// the safe point has passed the commit, the collector removes these versions without a
// read, and visits these cells. Its work depends on the number of writes, not on the size
// of the table. Collect sweeps the whole table (gcsweep.go).
//
// Rejected: removing old versions in the commit that supersedes them, because it does not
// know P, and the removal would slow down the commit itself; and a compaction filter, as
// in Fluo, because Badger has none.

// Collected is the result of a collection.
type Collected struct {
	SafePoint uint64 `json:"safe_point"`
	// Cells were visited. Known old versions are removed without a visit.
	Cells int `json:"cells"`
	// Locks were resolved. They belonged to transactions that ended without resolving them.
	Locks int `json:"locks"`
	// Removed: old versions with their values, deletions with nothing below them,
	// records of rollbacks, records of locks and read locks, and acknowledgements.
	Versions  int `json:"versions"`
	Deletions int `json:"deletions"`
	Rollbacks int `json:"rollbacks"`
	LockOnly  int `json:"lock_records"`
	Reads     int `json:"read_locks"`
	Acks      int `json:"acknowledgements"`
}

// Removed is the number of removed records.
func (c *Collected) Removed() int {
	return c.Versions + c.Deletions + c.Rollbacks + c.LockOnly + c.Reads + c.Acks
}

// Queue holds notifications that were read from the table and are not handled yet;
// notify.Pipeline implements it.
type Queue interface {
	// PauseScans calls fn while no scan takes notifications from the table to handle them.
	// waiting reports whether the queue has a row for an observer, waiting or running.
	PauseScans(fn func(waiting func(row, observer string) bool) error) error
}

// CollectOptions are the options of Collect and NewCollector.
type CollectOptions struct {
	// Queue says which acknowledgements runs may still need; nil keeps all of them.
	Queue Queue
	// Share is the fraction of one processor's time that a Collector uses; 0 means
	// 0.05. A Collector that has fallen behind uses up to four times as much.
	Share float64
	// Every is how often a Collector checks for garbage; 0 means 1 s.
	Every time.Duration
	// Progress is called now and then with what Collect has collected so far. It may be nil.
	Progress func(Collected)
	// Failed receives the errors of a Collector, which tries again later.
	Failed func(error)

	batch func() // called before each batch of a Collector; for tests
}

// garbage is the state of garbage collection in a DB.
type garbage struct {
	pass  sync.Mutex // one collection at a time
	queue gcQueue
}

// errLocksHeld means that a transaction below the safe point left a lock that cannot be
// resolved yet.
var errLocksHeld = errors.New("txn: locks below the safe point are not abandoned yet")

// Collect collects the garbage of the whole table, at full speed. Transactions and a
// Collector may run at the same time. Errors: those of the store; one that matches
// store.ErrCorrupt, for records that cannot be read; the cause of ctx's end. An error
// does not undo the part that was collected.
func (db *DB) Collect(ctx context.Context, opts CollectOptions) (Collected, error) {
	db.gc.pass.Lock()
	defer db.gc.pass.Unlock()
	if err := db.dropExpired(ctx); err != nil {
		return Collected{}, err
	}
	got, err := db.prepare(ctx)
	for wait, began := (backoff{}), time.Now(); errors.Is(err, errLocksHeld) && time.Since(began) < 2*db.opts.LockTTL; {
		if err := wait.sleep(ctx); err != nil {
			return got, err
		}
		got, err = db.prepare(ctx)
	}
	if err == nil {
		err = db.sweep(ctx, &got, opts)
	}
	if err != nil {
		return got, fmt.Errorf("txn: collect garbage: %w", err)
	}
	return got, nil
}

// prepare does steps 1 to 3.
func (db *DB) prepare(ctx context.Context) (got Collected, err error) {
	if got.SafePoint, err = db.advance(ctx); err != nil {
		return got, err
	}
	got.Locks, err = db.resolveBelow(ctx, got.SafePoint)
	return got, err
}

// resolveBelow is step 3. Open transactions have locks at P and above.
func (db *DB) resolveBelow(ctx context.Context, p uint64) (n int, err error) {
	if p <= 1 { // no timestamp is below, and a MaxTS of 0 is no bound
		return 0, nil
	}
	err = db.eachLock(ctx, p-1, func(c store.Cell) error {
		resolved, err := db.resolveLock(ctx, c)
		if err == nil && !resolved {
			err = errLocksHeld
		}
		if err == nil {
			n++
		}
		return err
	})
	return n, err
}
