package txn

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/webindexer/indexer/store"
)

// liveness tells whether the owner of a lock can still be working on it.
//
// The paper asks Chubby whether the owner's token exists, and looks at the wall
// time in the lock to detect owners that are alive but stuck (section 2.2). A table
// that belongs to one process needs no lock service: each opening of the table
// is an epoch, the token is its number, and only the newest epoch is alive. So
// after a crash all locks of the dead process can be resolved at once.
type liveness struct {
	token string
}

var (
	epochRow    = []byte("epoch")
	epochColumn = []byte("number")
)

// openLiveness begins a new epoch.
func openLiveness(ctx context.Context, table store.Table) (*liveness, error) {
	cells, err := table.Read(ctx, epochRow, store.Selector{Group: metaGroup, Column: epochColumn})
	if err != nil {
		return nil, fmt.Errorf("txn: read the epoch: %w", err)
	}
	epoch := uint64(1)
	if len(cells) > 0 {
		if len(cells[0].Value) != 8 {
			return nil, fmt.Errorf("txn: the epoch has %d bytes, not 8: %w", len(cells[0].Value), store.ErrCorrupt)
		}
		epoch = binary.BigEndian.Uint64(cells[0].Value) + 1
	}
	err = table.Apply(ctx, []store.RowMutation{{Row: epochRow, Mutations: []store.Mutation{{
		Op: store.Put, Group: metaGroup, Column: epochColumn, TS: epoch,
		Value: binary.BigEndian.AppendUint64(nil, epoch),
	}}}})
	if err != nil {
		return nil, fmt.Errorf("txn: begin a new epoch: %w", err)
	}
	return &liveness{token: strconv.FormatUint(epoch, 10)}, nil
}

// abandoned reports whether the lock's owner is dead, or has not renewed the
// lock for ttl. A lock from further in the future than that was written before the
// clock was set back; rolling back a live owner is safe and only costs a retry.
func (l *liveness) abandoned(lock lockRecord, ttl time.Duration) bool {
	return lock.token != l.token || time.Since(lock.wall).Abs() > ttl
}
