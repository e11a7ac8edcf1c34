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
// (the paper's section 2.4). Those of an observer that only the holder of a lease may run are no
// work for anybody else, and there may be many of them: ranks are debounced, so a load leaves
// notifications of rank and rerank behind for each of its pages, and every other process would
// read them again and again to find something else. So they lie in a group of their own,
// leasedGroup. Only the holder of the lease scans it, and whoever asks for all notifications.
//
// Invariants:
//
//  1. A notification in leasedGroup is as good as one in notifyGroup. Whoever asks whether there is
//     one looks into both.
//  2. A process that does not know that an observer has a lease sends to notifyGroup: an earlier
//     version, or one without that observer. So the holder of a lease scans notifyGroup as
//     well, and whoever removes a notification of an observer with a lease removes it from
//     both.
//  3. A process that runs an observer without a lease, and finds a notification of it in
//     leasedGroup, moves it to notifyGroup (Reunite). Its sender has other settings: with one
//     shard of the index files, refresh has a lease, and with several it has none.
//  4. A table that one process uses alone has none in leasedGroup, so its commits need not care.
//     It may have had some, as the copy of a shared table: opening it moves them.
//
// While a process of a version that does not know leasedGroup holds a lease, what others send there
// waits. It is found when a later version holds the lease.

// groupOf is the group for new notifications of an observer.
func (db *DB) groupOf(observer string) string {
	if db.apart(observer) {
		return leasedGroup
	}
	return notifyGroup
}

// apart reports whether notifications of an observer may lie in leasedGroup.
func (db *DB) apart(observer string) bool {
	return db.Shared() && db.opts.Leased != nil && db.opts.Leased(observer)
}

func (db *DB) notify(c Cell, observer string, ts uint64) store.Mutation {
	return store.Mutation{Op: store.Put, Group: db.groupOf(observer), Column: observerColumn(c.Column, observer), TS: ts}
}

// unnotify removes a notification, unless it was sent again after ts.
func (db *DB) unnotify(c Cell, observer string, ts uint64) []store.Mutation {
	return unnotifyIn(c, observer, ts, db.apart(observer))
}

func unnotifyIn(c Cell, observer string, ts uint64, apart bool) []store.Mutation {
	m := store.Mutation{Op: store.DeleteUpTo, Group: notifyGroup, Column: observerColumn(c.Column, observer), TS: ts}
	if !apart {
		return []store.Mutation{m}
	}
	leased := m
	leased.Group = leasedGroup
	return []store.Mutation{m, leased}
}

// notifications selects the notifications of an observer at a cell.
func (db *DB) notifications(c Cell, observer string) []store.Selector {
	s := store.Selector{Group: notifyGroup, Column: observerColumn(c.Column, observer)}
	if !db.apart(observer) {
		return []store.Selector{s}
	}
	leased := s
	leased.Group = leasedGroup
	return []store.Selector{s, leased}
}

// EachNotification calls fn with all notifications in a table without a DB: see
// DB.EachNotification.
func EachNotification(ctx context.Context, table store.Reader, fn func([]Notification) error) error {
	for _, group := range []string{notifyGroup, leasedGroup} {
		for from := ""; ; {
			notes, next, err := notificationsIn(ctx, table, group, from, notificationsPage)
			if err == nil && len(notes) > 0 {
				err = fn(notes)
			}
			if errors.Is(err, ErrStop) {
				return nil
			}
			if err != nil {
				return err
			}
			if from = next; from == "" {
				break
			}
		}
	}
	return nil
}

// notificationsPage is how many notifications EachNotification reads at a time.
const notificationsPage = 1000

// notificationsIn lists notifications in a group: see DB.Notifications.
func notificationsIn(ctx context.Context, table store.Reader, group, from string, limit int) (notes []Notification, next string, err error) {
	r := store.Range{Group: group, Start: []byte(from), MaxCells: limit}
	resume, err := table.Scan(ctx, r, func(c store.Cell) error {
		col, observer, ok := parseObserverColumn(c.Column)
		if !ok {
			return fmt.Errorf("notification in row %q has the column %q: %w", c.Row, c.Column, store.ErrCorrupt)
		}
		notes = append(notes, Notification{Cell: Cell{string(c.Row), col}, Observer: observer, TS: c.TS, Apart: group == leasedGroup})
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("txn: scan for notifications: %w", err)
	}
	return notes, string(resume), nil
}

// Reunite moves notifications that lie apart to the others. A crash in between leaves each in
// either place, or in both.
func (db *DB) Reunite(ctx context.Context, notes []Notification) error {
	var rows []store.RowMutation
	for _, n := range notes {
		if !n.Apart {
			continue
		}
		column := observerColumn(n.Cell.Column, n.Observer)
		rows = append(rows, store.RowMutation{Row: []byte(n.Cell.Row), Mutations: []store.Mutation{
			{Op: store.Put, Group: notifyGroup, Column: column, TS: n.TS},
			{Op: store.DeleteUpTo, Group: leasedGroup, Column: column, TS: n.TS},
		}})
	}
	if len(rows) == 0 {
		return nil
	}
	if err := db.table.Apply(ctx, rows); err != nil {
		return fmt.Errorf("txn: move %d notifications of observers with a lease: %w", len(rows), err)
	}
	return nil
}

// reuniteAll is Reunite for all notifications. If it fails, the next opening goes on.
func (db *DB) reuniteAll(ctx context.Context) error {
	for from := ""; ; {
		notes, next, err := notificationsIn(ctx, db.table, leasedGroup, from, notificationsPage)
		if err == nil {
			err = db.Reunite(ctx, notes)
		}
		if err != nil || next == "" {
			return err
		}
		from = next
	}
}
