package txn

import (
	"context"
	"fmt"

	"indexer/store"
)

// ResolveAbandoned resolves the locks of owners that are dead: all of them, after
// a crash of the only process. Readers would do it one by one as they meet them;
// but a lock that nobody ever meets keeps the group of locks from being empty, and
// only an empty one costs readers nothing (the store answers for it from memory).
// Locks of live owners are left alone. It returns how many were resolved.
func (db *DB) ResolveAbandoned(ctx context.Context) (n int, err error) {
	for start := []byte(nil); ; {
		var locks []store.Cell
		next, err := db.table.Scan(ctx, store.Range{Group: lockGroup, Start: start, MaxCells: scanPage}, func(c store.Cell) error {
			locks = append(locks, c)
			return nil
		})
		if err != nil {
			return n, fmt.Errorf("txn: look for locks: %w", err)
		}
		for _, c := range locks {
			resolved, err := db.resolveLock(ctx, c)
			if err != nil {
				return n, fmt.Errorf("txn: resolve the locks of a dead process: %w", err)
			}
			if resolved {
				n++
			}
		}
		if next == nil {
			return n, nil
		}
		start = next
	}
}
