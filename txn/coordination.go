package txn

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
)

// Coordination connects a DB to the other processes that use the same table at the same
// time. Package oracle provides one. Without it (Options.Coordination is nil), the DB
// assumes that it is the only process: its own oracle hands out timestamps, and every
// other process is dead (liveness.go).
//
// docs/oracle.md lists what else depends on that assumption.
type Coordination struct {
	Timestamps Timestamps
	Liveness   Liveness
	// RowLocks may be nil: then every attempt to lock a row succeeds.
	RowLocks RowLocks
}

// Timestamps is the timestamp oracle of all processes (paper, section 2.3). "Before" means
// that one call returned before the other began, in the same process or in another.
type Timestamps interface {
	// Next returns a timestamp greater than every one that was handed out before.
	Next(ctx context.Context) (uint64, error)

	// Last returns a timestamp, without taking one. It is at least as great as every one
	// handed out before, and less than every one handed out later.
	Last(ctx context.Context) (uint64, error)
}

// Liveness tells which processes are alive, as Chubby does in the paper (section 2.2).
//
// A process is alive for as long as Valid returns nil in it. Other processes learn of its
// death later, never earlier:
//
//	if Alive(token) has returned false in any process,
//	Valid has been returning an error in the owner of the token, and does so for ever.
//
// This holds for a process that was stopped, or cut off, and continues afterwards. So a
// process that did something under the protection of its token calls Valid afterwards, and
// discards the result if Valid fails.
type Liveness interface {
	// Token names this process. It is in all locks of its transactions.
	Token() string

	// Valid returns nil while no other process can consider this one dead, and the reason
	// otherwise. It must be fast, because every read of a transaction calls it.
	Valid() error

	// Alive reports whether the process with a token may be alive. An error means that
	// the answer is unknown. The caller must then assume that the process is alive.
	Alive(ctx context.Context, token string) (bool, error)
}

// RowLocks are advisory locks of rows (paper, section 2.4): hints that keep several
// processes from beginning the same work. A lock may be lost at any time, and two
// processes may hold the same one, for example after the lock service was restarted. So
// nothing may depend on them but speed.
type RowLocks interface {
	// TryLock tries to lock each of the rows for this process, without waiting, and
	// reports which of them it has locked. It reports false for a row that it holds
	// already.
	TryLock(ctx context.Context, rows []string) (got []bool, err error)

	// Unlock releases rows. A lost release costs time only: the lock expires.
	Unlock(ctx context.Context, rows []string) error
}

// RowLocks returns the advisory locks that all processes of the table share.
func (db *DB) RowLocks() RowLocks {
	if c := db.opts.Coordination; c != nil && c.RowLocks != nil {
		return c.RowLocks
	}
	return noRowLocks{}
}

// noRowLocks locks nothing. In one process, the queue of package notify gives a row to one
// worker at a time.
type noRowLocks struct{}

func (noRowLocks) TryLock(_ context.Context, rows []string) ([]bool, error) {
	got := make([]bool, len(rows))
	for i := range got {
		got[i] = true
	}
	return got, nil
}

func (noRowLocks) Unlock(context.Context, []string) error { return nil }

// sharedClock takes timestamps from Options.Coordination, and remembers the greatest.
type sharedClock struct {
	Timestamps
	seen atomic.Uint64
}

func (s *sharedClock) Next(ctx context.Context) (uint64, error) {
	return s.note(s.Timestamps.Next(ctx))
}

func (s *sharedClock) Last(ctx context.Context) (uint64, error) {
	return s.note(s.Timestamps.Last(ctx))
}

func (s *sharedClock) note(ts uint64, err error) (uint64, error) {
	if err != nil {
		return 0, err
	}
	for n := s.seen.Load(); n < ts && !s.seen.CompareAndSwap(n, ts); n = s.seen.Load() {
	}
	return ts, nil
}

// next takes a timestamp. The oracle of this process is not behind an interface: Next
// takes a few nanoseconds, and every transaction calls it.
func (db *DB) next(ctx context.Context) (uint64, error) {
	if db.oracle != nil {
		return db.oracle.Next(ctx)
	}
	return db.shared.Next(ctx)
}

// Shared reports whether other processes may use the table at the same time.
func (db *DB) Shared() bool { return db.shared != nil }

// Timestamp takes a timestamp that is greater than all earlier ones, of this
// process or any other.
func (db *DB) Timestamp(ctx context.Context) (uint64, error) { return db.next(ctx) }

// Now returns the greatest timestamp that any process has taken. It takes none itself. A
// reader at it (At) sees every transaction that was acknowledged before the call, by any
// process.
func (db *DB) Now(ctx context.Context) (uint64, error) {
	if db.oracle != nil {
		return db.oracle.Last(), nil
	}
	ts, err := db.shared.Last(ctx)
	if err != nil {
		return 0, fmt.Errorf("txn: ask for the last timestamp: %w", err)
	}
	return ts, nil
}

// LastTimestamp is the greatest timestamp that this process knows of: the start of a
// transaction, or a commit that can be read. A reader at it (At) sees every transaction
// that this process has acknowledged. If other processes use the table, it may miss
// theirs, and Now does not.
//
// In the only process of a table, if two calls return the same value, no transaction
// began between them and none took a commit timestamp. A transaction that took its commit
// timestamp before the first call may still have been writing: see Running.
func (db *DB) LastTimestamp() uint64 {
	if db.oracle != nil {
		return db.oracle.Last()
	}
	return db.shared.seen.Load()
}

// Began is the ceiling of timestamps that Open found in the table. Open replaces it by a
// greater one before it returns, so no two openings of a table find the same ceiling. If
// other processes use the table, it is a number that no Ceiling returns.
func (db *DB) Began() uint64 {
	if db.oracle != nil {
		return db.oracle.began
	}
	return math.MaxUint64
}

// Ceiling is the ceiling of timestamps in the table now. If the next Open finds it, no
// other process has opened the table in between. If other processes use the table, that
// cannot be known, and Ceiling is a number that no Began returns.
func (db *DB) Ceiling() uint64 {
	if db.oracle != nil {
		return db.oracle.Ceiling()
	}
	return 0
}

// View calls fn with a transaction that reads at Now. It takes no timestamp, so it does not keep
// Quiescent from finding that all work is done. fn must not keep the transaction.
func (db *DB) View(ctx context.Context, fn func(*Txn) error) error {
	release := db.Hold() // without it, the safe point could pass the timestamp before At registers it
	defer release()
	now, err := db.Now(ctx)
	if err != nil {
		return err
	}
	tx := db.At(now)
	defer tx.Rollback()
	return fn(tx)
}
