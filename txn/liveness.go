package txn

import (
	"context"
	"encoding/binary"
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
	cells, err := table.Read(ctx, epochRow, store.Selector{Group: metaGroup, Column: epochColumn})
	if err != nil {
		return nil, fmt.Errorf("txn: read the epoch: %w", err)
	}
	number := uint64(1)
	if len(cells) > 0 {
		if len(cells[0].Value) != 8 {
			return nil, fmt.Errorf("txn: the epoch has %d bytes, not 8: %w", len(cells[0].Value), store.ErrCorrupt)
		}
		number = binary.BigEndian.Uint64(cells[0].Value) + 1
	}
	err = table.Apply(ctx, []store.RowMutation{{Row: epochRow, Mutations: []store.Mutation{{
		Op: store.Put, Group: metaGroup, Column: epochColumn, TS: number,
		Value: binary.BigEndian.AppendUint64(nil, number),
	}}}})
	if err != nil {
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
