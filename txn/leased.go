package txn

import (
	"context"
	"errors"
	"fmt"

	"github.com/webindexer/indexer/store"
)

// # Notifications of observers with a lease
//
// In a table that several processes share, each process scans for notifications all the time
// (the paper's section 2.4). Some observers may run only in the process that holds a lease, so
// their notifications are useless to all others. There may be many: ranks are debounced, so a
// load leaves notifications of rank and rerank behind for each of its pages, and every other
// process would read past them in each scan. So they have a group of their own, leasedGroup.
// Only the holder of the lease scans it, apart from callers that need all notifications.
//
// Invariants:
//
//  1. A notification means the same in leasedGroup and in notifyGroup. A search for one reads both.
//  2. A process that does not know that an observer has a lease (an earlier version, or one
//     without that observer) sends to notifyGroup. So the holder of a lease scans notifyGroup as
//     well, and the removal of such a notification removes it from both groups.
//  3. A process that runs an observer without a lease, and finds a notification of it in
//     leasedGroup, moves it to notifyGroup (MoveLeased). Its sender has other settings: with one
//     shard of the index files, refresh has a lease, and with several it has none.
//  4. A table that one process uses alone has none in leasedGroup, so its commits need not care.
//     A copy of a shared table may have some; opening it moves them.
//
// While the holder of a lease runs a version that does not know leasedGroup, the notifications
// there wait. The next holder that knows the group finds them.

// groupOf is the group for new notifications of an observer.
func (db *DB) groupOf(observer string) string {
	if db.hasLease(observer) {
		return leasedGroup
	}
	return notifyGroup
}

// hasLease reports whether notifications of an observer may be in leasedGroup.
func (db *DB) hasLease(observer string) bool {
	return db.Shared() && db.opts.Leased != nil && db.opts.Leased(observer)
}

func (db *DB) notify(c Cell, observer string, ts uint64) store.Mutation {
	return store.Mutation{Op: store.Put, Group: db.groupOf(observer), Column: observerColumn(c.Column, observer), TS: ts}
}

// unnotify removes a notification, unless it was sent again after ts.
func (db *DB) unnotify(c Cell, observer string, ts uint64) []store.Mutation {
	return unnotifyIn(c, observer, ts, db.hasLease(observer))
}

func unnotifyIn(c Cell, observer string, ts uint64, leased bool) []store.Mutation {
	m := store.Mutation{Op: store.DeleteUpTo, Group: notifyGroup, Column: observerColumn(c.Column, observer), TS: ts}
	if !leased {
		return []store.Mutation{m}
	}
	inLeased := m
	inLeased.Group = leasedGroup
	return []store.Mutation{m, inLeased}
}

// notifications selects the notifications of an observer at a cell.
func (db *DB) notifications(c Cell, observer string) []store.Selector {
	s := store.Selector{Group: notifyGroup, Column: observerColumn(c.Column, observer)}
	if !db.hasLease(observer) {
		return []store.Selector{s}
	}
	leased := s
	leased.Group = leasedGroup
	return []store.Selector{s, leased}
}

// EachNotification is DB.EachNotification for a table without a DB.
func EachNotification(ctx context.Context, table store.Reader, fn func([]Notification) error) error {
	for _, group := range []string{notifyGroup, leasedGroup} {
		err := eachNotificationIn(ctx, table, group, fn)
		if errors.Is(err, ErrStop) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// notificationsPage is how many notifications eachNotificationIn reads at a time.
const notificationsPage = 1000

// eachNotificationIn calls fn with all notifications in a group, a page at a time.
func eachNotificationIn(ctx context.Context, table store.Reader, group string, fn func([]Notification) error) error {
	for from := ""; ; {
		notes, next, err := notificationsIn(ctx, table, group, from, notificationsPage)
		if err == nil && len(notes) > 0 {
			err = fn(notes)
		}
		if err != nil || next == "" {
			return err
		}
		from = next
	}
}

// notificationsIn lists notifications in a group: see DB.Notifications.
func notificationsIn(ctx context.Context, table store.Reader, group, from string, limit int) (notes []Notification, next string, err error) {
	r := store.Range{Group: group, Start: []byte(from), MaxCells: limit}
	resume, err := table.Scan(ctx, r, func(c store.Cell) error {
		col, observer, ok := parseObserverColumn(c.Column)
		if !ok {
			return fmt.Errorf("notification in row %q has the column %q: %w", c.Row, c.Column, store.ErrCorrupt)
		}
		notes = append(notes, Notification{Cell: Cell{string(c.Row), col}, Observer: observer, TS: c.TS, Leased: group == leasedGroup})
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("txn: scan for notifications: %w", err)
	}
	return notes, string(resume), nil
}

// MoveLeased moves notifications from leasedGroup to notifyGroup. A crash in between leaves each
// of them in either group, or in both.
func (db *DB) MoveLeased(ctx context.Context, notes []Notification) error {
	var rows []store.RowMutation
	for _, n := range notes {
		if !n.Leased {
			continue
		}
		column := observerColumn(n.Cell.Column, n.Observer)
		rows = append(rows, store.RowMutation{Row: []byte(n.Cell.Row), Mutations: []store.Mutation{
			{Op: store.Put, Group: notifyGroup, Column: column, TS: n.TS},
			{Op: store.DeleteUpTo, Group: leasedGroup, Column: column, TS: n.TS},
		}})
	}
	if err := db.apply(ctx, rows); err != nil {
		return fmt.Errorf("txn: move %d notifications of observers with a lease: %w", len(rows), err)
	}
	return nil
}

// moveAllLeased is MoveLeased for all notifications. If it fails, the next Open continues.
func (db *DB) moveAllLeased(ctx context.Context) error {
	return eachNotificationIn(ctx, db.table, leasedGroup, func(notes []Notification) error { return db.MoveLeased(ctx, notes) })
}
