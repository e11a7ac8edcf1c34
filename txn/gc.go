package txn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"indexer/store"
)

// Garbage collection. The paper does not describe it; the order is TiKV's, which
// others have paid for (tikv#7364, docs-cn#679, tidb#11453).
//
// # The order
//
//  1. Raise the safe point P in memory: as far as every open transaction, every
//     pin and the history allow. From here on DB.At below P fails.
//  2. Publish P in the table (gcpoint.go).
//  3. Resolve every lock with a start timestamp below P. If one
//     cannot be resolved yet, nothing is collected this time.
//  4. Collect what nobody can see at P or above (gccell.go): of each cell the
//     writes below the newest one at or below P, with their data; that newest one
//     too, if it is a deletion; rollback records below P; lock-only records at or
//     below P; records of cells got for update at or below P (forupdate.go). In each
//     cell the oldest goes first.
//  5. Collect acknowledgements of cells that are gone (gcacks.go).
//
// # Why nobody misses what is collected
//
// Claim 1: no transaction reads below P. Those that are open registered before
// they took their timestamps, and P is at most all of those (gcreaders.go). Later
// ones get greater ones. Readers of the past are refused, or were registered
// before P was raised, under the same mutex.
//
// Claim 2: after step 3 no lock below P belongs to a transaction that committed, or
// can commit. A transaction with a start below P has ended (claim 1: it is
// registered until its Commit returns), and one that has ended commits no more: it
// sends the mutation of its commit point only after all its prewrites were
// applied, and gives up only after that mutation can no longer be applied. So if
// it committed, its locks were all there when step 3 looked, and were rolled
// forward. A prewrite that was lost on its way may still arrive and leave a lock,
// of a transaction that never commits.
//
// Claim 3: what stands in a cell at or below P changes no more but by collection. A
// commit timestamp is taken after the start, so it is above P for all that are
// open; and what ended or died was settled in step 3.
//
// Readers: one at S >= P wants the newest write at or below S. That is the newest
// one at or below P or a later one, and neither goes, unless it is a deletion,
// which reads like nothing. Older ones go before it, so a reader between two
// steps, or after a crash between them, never finds an older value uncovered.
//
// Writers: a prewrite asks for writes, rollbacks and acknowledgements from its own
// start on, all at or above P.
//
// Whoever asks a primary: only for a lock, and the lock's transaction may then
// still be undecided. Records that decide are those of the transaction's start S.
// If S >= P they are there: a write record has a commit timestamp above S, so above
// P, and a rollback record goes only below P. If S < P the lock is one of those of
// claim 2 that arrived late: it did not commit, and "nothing there" is answered by
// a new rollback record, as it must be. So a rollback record is never collapsed
// while a prewrite that counts could come (tikv#7364): only once its transaction
// has ended. One that resolves a lock just while step 3 does may find the primary's
// record collected and put a rollback record there; its second step wants the lock
// to be in place, fails, and nothing but that record is left, for the next time.
//
// # What a crash leaves
//
//	before step 2   nothing; P is as it was
//	after step 2    a safe point with nothing collected; reads below it fail already
//	in step 3       fewer locks; any one of them was to be resolved anyway
//	in step 4       a cell without some of its oldest versions; or data whose write
//	                record is gone, which the next full collection finds
//	in step 5       fewer acknowledgements of cells that are gone
//
// # When
//
// A Collector works beside transactions (gcrun.go). Each commit notes the versions
// that it has replaced, if it has read them, or else the cells that it wrote
// (gcqueue.go). Once the safe point has passed the commit, the collector removes these
// versions without a read, and looks at these cells. Its work follows the writes, not
// the size of the table. Collect sweeps the whole table (gcsweep.go).
//
// Rejected: trimming old versions in the commit that supersedes them. It does not know
// P, and would pay for the removal where it hurts most. And a compaction filter, as
// Fluo has: Badger has none.

// Collected says what a collection did.
type Collected struct {
	SafePoint uint64 `json:"safe_point"`
	// Cells were looked at. Old versions that are known are removed without a look.
	Cells int `json:"cells"`
	// Locks were resolved: those of transactions that ended without.
	Locks int `json:"locks"`
	// Removed: old versions with their values, deletions with nothing below them,
	// records of rollbacks, records of locks, those of cells got for update, and acknowledgements.
	Versions  int `json:"versions"`
	Deletions int `json:"deletions"`
	Rollbacks int `json:"rollbacks"`
	LockOnly  int `json:"lock_records"`
	Reads     int `json:"read_locks"`
	Acks      int `json:"acknowledgements"`
}

// Removed is how many records went.
func (c *Collected) Removed() int {
	return c.Versions + c.Deletions + c.Rollbacks + c.LockOnly + c.Reads + c.Acks
}

// Answers is asked before an acknowledgement is removed; notify.Pipeline is one.
type Answers interface {
	// Settled calls fn while nobody takes notifications out of the table to answer
	// them. busy reports whether one that was taken out is not answered yet.
	Settled(fn func(busy func(row, observer string) bool) error) error
}

// CollectOptions of Collect and NewCollector.
type CollectOptions struct {
	// Answers keeps acknowledgements that are still needed; with nil all are kept.
	Answers Answers
	// Share is the part of the time that a Collector works, of one processor; 0
	// means 0.05. It works up to four times as much when it falls behind.
	Share float64
	// Every is how often a Collector looks whether there is something to do; 0
	// means 1 s.
	Every time.Duration
	// Failed hears of errors of a Collector, which tries again later.
	Failed func(error)

	batch func() // called before each batch of a Collector; for tests
}

// garbage is what a DB keeps for its collection.
type garbage struct {
	pass  sync.Mutex // one collection at a time
	queue gcQueue
}

// errLocksHeld: a transaction below the safe point has ended, and its lock cannot
// be resolved yet.
var errLocksHeld = errors.New("txn: locks below the safe point are not abandoned yet")

// Collect collects the garbage of the whole table, at full speed. It may run beside
// everything else. Errors: those of the store; one that matches store.ErrCorrupt,
// for records that cannot be read; the cause of ctx's end. What was collected until
// then is collected.
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
		err = db.sweep(ctx, &got, opts.Answers)
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

// resolveBelow is step 3. Transactions that are open have locks at P and above.
func (db *DB) resolveBelow(ctx context.Context, p uint64) (n int, err error) {
	if p == 0 {
		return 0, nil
	}
	for start := []byte(nil); ; {
		var locks []store.Cell
		r := store.Range{Group: lockGroup, Start: start, MaxTS: p - 1, MaxCells: scanPage}
		next, err := db.table.Scan(ctx, r, func(c store.Cell) error {
			locks = append(locks, c)
			return nil
		})
		if err != nil {
			return n, fmt.Errorf("look for locks below the safe point: %w", err)
		}
		for _, c := range locks {
			resolved, err := db.resolveLock(ctx, c)
			if err != nil {
				return n, err
			}
			if !resolved {
				return n, errLocksHeld
			}
			n++
		}
		if next == nil {
			return n, nil
		}
		start = next
	}
}
