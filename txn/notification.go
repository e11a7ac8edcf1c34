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
	// Continues marks notifications of Txn.Continue. Only Handover sets it: it is
	// not in the table, so a notification that a scan finds never has it.
	Continues bool
	// Patient marks notifications of Txn.NotifyPatiently, as Continues does those of
	// Txn.Continue.
	Patient bool
}

// There is one notification per observer and cell, not one per cell as in
// the paper. So each observer removes its own without checking whether the
// rest are done, and several observers of a column never write the same cell.

// Notifications lists notifications in the table, by row, from row from:
// at least one row, and further rows until there are limit notifications. next is
// the row at which to continue, "" at the end.
func (db *DB) Notifications(ctx context.Context, from string, limit int) (notes []Notification, next string, err error) {
	return NotificationsIn(ctx, db.table, from, limit)
}

// Forget removes a notification up to a timestamp without a run, for
// an observer that no longer exists, or a notification that was acknowledged.
func (db *DB) Forget(ctx context.Context, n Notification) error {
	err := db.table.Apply(ctx, []store.RowMutation{{Row: []byte(n.Cell.Row), Mutations: []store.Mutation{unnotify(n.Cell, n.Observer, n.TS)}}})
	if err != nil {
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
// transaction's snapshot or a moment later; 0 if there is none. If one was sent before this
// transaction began and there is none, a run that began after it was sent has committed.
func (t *Txn) Notified(ctx context.Context, c Cell, observer string) (uint64, error) {
	if err := t.readable(); err != nil {
		return 0, err
	}
	cells, err := t.reader().Read(ctx, []byte(c.Row), store.Selector{Group: notifyGroup, Column: observerColumn(c.Column, observer)})
	if err != nil {
		return 0, fmt.Errorf("txn: read notification of %s at %s: %w", observer, c, err)
	}
	if len(cells) == 0 {
		return 0, nil
	}
	return cells[0].TS, nil
}

func notify(c Cell, observer string, ts uint64) store.Mutation {
	return store.Mutation{Op: store.Put, Group: notifyGroup, Column: observerColumn(c.Column, observer), TS: ts}
}

// unnotify removes a notification, unless it was sent again after ts.
func unnotify(c Cell, observer string, ts uint64) store.Mutation {
	return store.Mutation{Op: store.DeleteUpTo, Group: notifyGroup, Column: observerColumn(c.Column, observer), TS: ts}
}
