package txn

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/store"
)

// Quiescent reports whether the table shows that all work is done: ok says that the
// observers have handled every transaction that committed at ts or below it, including
// their own. It takes no timestamp. It works for a table that several processes share,
// because it asks only the table and the oracle, in this order:
//
//  1. ts is the last timestamp that any process has taken.
//  2. The table has no lock. A transaction with a commit timestamp up to ts had all its
//     locks in the table before it took that timestamp. So it has ended: what it wrote can
//     be read, and the notifications that it sent are in the table, unless they were
//     handled.
//  3. The table has no notification. A notification stays until the run that handles it has
//     committed completely. So every run that handles one of those transactions has committed.
//     Both groups of notifications are scanned twice, because a scan sees each row at a different
//     instant. A run that has no lock, because it only sends notifications, may send one to a row
//     that the first scan has passed, and then remove its own before the scan gets there. The
//     second scan finds what it sent. Notifications move from leasedGroup to notifyGroup
//     (MoveLeased), and never back, so leasedGroup comes first: a scan of both does not miss what
//     moves meanwhile.
//  4. No process has taken a timestamp since. So these runs committed at ts or below it,
//     and what they sent was already in the table at step 3.
//
// There is one exception, which does no harm. A transaction that only sends weak
// notifications has no lock, so it may send them after step 3 with a timestamp up to ts. It
// changes nothing that can be read, so this is like a transaction that begins afterwards. A
// run of an observer is not such an exception: the notification that triggered it stays in
// the table until it has sent its own.
//
// Before step 1, Quiescent resolves the locks of dead processes, because no other
// transaction may ever find them.
//
// While there is a notification, Quiescent checks nothing else, and ts is 0. Notifications may
// have a table of their own, whereas the search for locks may visit every row of the table, and
// waiting callers ask ten times a second.
func (db *DB) Quiescent(ctx context.Context) (ts uint64, ok bool, err error) {
	for _, group := range []string{notifyGroup, leasedGroup} {
		if empty, err := db.isEmpty(ctx, group); err != nil || !empty {
			return 0, false, err
		}
	}
	if _, err := db.ResolveAbandoned(ctx); err != nil {
		return 0, false, err
	}
	if ts, err = db.Now(ctx); err != nil {
		return 0, false, err
	}
	for _, group := range []string{lockGroup, leasedGroup, notifyGroup, leasedGroup, notifyGroup} {
		empty, err := db.isEmpty(ctx, group)
		if err != nil || !empty {
			return ts, false, err
		}
	}
	now, err := db.Now(ctx)
	return ts, now == ts, err
}

func (db *DB) isEmpty(ctx context.Context, group string) (bool, error) {
	empty := true
	_, err := db.table.Scan(ctx, store.Range{Group: group, MaxCells: 1}, func(store.Cell) error {
		empty = false
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("txn: check whether all work is done: %w", err)
	}
	return empty, nil
}
