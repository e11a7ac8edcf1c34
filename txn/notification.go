package txn

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/store"
)

// Notification says that an observer may have to run on a cell.
type Notification struct {
	Cell     Cell
	Observer string
	// TS is the commit timestamp of the newest transaction that sent it.
	TS uint64
	// Leased says that the notification is in the group for observers with a lease
	// (leased.go). Only EachNotification sets it.
	Leased bool
	// Continues marks notifications of Txn.Continue. Only Handover sets it: it is
	// not in the table, so a notification that a scan finds never has it.
	Continues bool
	// Deferrable marks notifications of Txn.NotifyDeferrable, as Continues does those of
	// Txn.Continue.
	Deferrable bool
}

// There is one notification per observer and cell, not one per cell as in
// the paper. So each observer removes its own without checking whether the
// rest are done, and several observers of a column never write the same cell.

// Notifications lists notifications in the table, by row, from row from: at least one row, and
// further rows until there are limit notifications. next is the row at which to continue, "" at
// the end. In a table that several processes share, it leaves out those of observers with a
// lease.
func (db *DB) Notifications(ctx context.Context, from string, limit int) (notes []Notification, next string, err error) {
	return notificationsIn(ctx, db.table, notifyGroup, from, limit)
}

// EachNotification calls fn with all notifications in the table, a page at a time, in the order of
// rows: first those of observers that any process may run, and then those of observers with a
// lease. If fn returns ErrStop, EachNotification ends without an error; so a loader that only needs
// to know whether there are many reads none of those with a lease. It may miss a notification that
// is moved (MoveLeased) or sent during the call.
func (db *DB) EachNotification(ctx context.Context, fn func([]Notification) error) error {
	return EachNotification(ctx, db.table, fn)
}

// Forget removes a notification up to a timestamp without a run, for
// an observer that no longer exists, or a notification that was acknowledged. If
// Notification.Leased is set, this DB need not know the observer.
func (db *DB) Forget(ctx context.Context, n Notification) error {
	ms := unnotifyIn(n.Cell, n.Observer, n.TS, n.Leased || db.hasLease(n.Observer))
	if err := applyRow(ctx, db.table, []byte(n.Cell.Row), ms...); err != nil {
		return fmt.Errorf("txn: remove notification of %s at %s: %w", n.Observer, n.Cell, err)
	}
	return nil
}

// Acknowledged returns the start timestamp of the last committed run of an
// observer on a cell, as of this transaction's snapshot; 0 if it never ran.
func (t *Txn) Acknowledged(ctx context.Context, c Cell, observer string) (uint64, error) {
	if err := t.readable(); err != nil {
		return 0, err
	}
	cells, err := t.reader().Read(ctx, []byte(c.Row), store.Selector{Group: ackGroup, Column: observerColumn(c.Column, observer)})
	if err != nil {
		return 0, fmt.Errorf("txn: read acknowledgement of %s at %s: %w", observer, c, err)
	}
	if len(cells) == 0 {
		return 0, nil
	}
	return cells[0].TS, nil
}

// Notified returns the timestamp of the notification of an observer at a cell, as of this
// transaction's snapshot or a moment later; 0 if there is none. If Notified returns 0
// although a notification was sent before this transaction began, then a run that began
// after the sending has committed.
func (t *Txn) Notified(ctx context.Context, c Cell, observer string) (uint64, error) {
	if err := t.readable(); err != nil {
		return 0, err
	}
	return t.db.notified(ctx, t.reader(), c, observer)
}

// Notified returns the timestamp of the notification of an observer at a cell that is in
// the table now, or 0 if there is none.
func (db *DB) Notified(ctx context.Context, c Cell, observer string) (uint64, error) {
	return db.notified(ctx, db.table, c, observer)
}

func (db *DB) notified(ctx context.Context, r store.Reader, c Cell, observer string) (ts uint64, err error) {
	cells, err := r.Read(ctx, []byte(c.Row), db.notifications(c, observer)...)
	if err != nil {
		return 0, fmt.Errorf("txn: read notification of %s at %s: %w", observer, c, err)
	}
	for _, cell := range cells {
		ts = max(ts, cell.TS)
	}
	return ts, nil
}
