package txn

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/webindexer/indexer/store"
)

// epoch is the Liveness of a table that belongs to one process. It needs no lock service:
// each opening of the table is an epoch, the token is its number, and only the newest
// epoch is alive. So after a crash all locks of the dead process can be resolved at once.
type epoch string

// Token implements Liveness.
func (e epoch) Token() string { return string(e) }

// Valid implements Liveness: the store admits no other process.
func (e epoch) Valid() error { return nil }

// Alive implements Liveness.
func (e epoch) Alive(_ context.Context, token string) (bool, error) { return token == string(e), nil }

var (
	epochRow    = []byte("epoch")
	epochColumn = []byte("number")
)

// openEpoch begins a new epoch.
func openEpoch(ctx context.Context, table store.Table) (Liveness, error) {
	last, err := readNumber(ctx, table, epochRow, epochColumn, "the epoch")
	if err != nil {
		return nil, err
	}
	number := last + 1
	if err := applyRow(ctx, table, epochRow, putNumber(epochColumn, number, number)); err != nil {
		return nil, fmt.Errorf("txn: begin a new epoch: %w", err)
	}
	return epoch(strconv.FormatUint(number, 10)), nil
}

// abandoned reports whether a lock may be taken from its owner, because the owner is dead,
// or has not renewed the lock for LockTTL: the paper looks at the wall time in the lock to
// detect owners that are alive but stuck (section 2.2). A lock from further in the future
// than that was written before the clock was set back.
//
// Both are only guesses that save waiting: rolling back a live owner is safe and costs it a
// retry. So the clocks of several machines need not agree, but if they differ by more than
// LockTTL, their transactions roll each other back. If the liveness of the owner is
// unknown, only its wall time decides.
func (db *DB) abandoned(ctx context.Context, lock lockRecord) bool {
	if time.Since(lock.wall).Abs() > db.opts.LockTTL {
		return true
	}
	alive, err := db.liveness.Alive(ctx, lock.token)
	return err == nil && !alive
}
