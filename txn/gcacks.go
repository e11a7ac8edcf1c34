package txn

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/store"
)

// ack is an acknowledgement as it is stored.
type ack struct {
	cell     Cell
	observer string
	column   []byte
	ts       uint64
}

// collectAcks is step 5. The acknowledgement at A of a cell and observer is removed if
//
//   - A is below the safe point: no open transaction still sends, hands over
//     or looks for a notification at or below A (its sender's start is
//     below A, and it ends after the handover);
//   - the cell has no write and no lock: as long as it exists, the acknowledgement
//     says that the observer has seen it, which `indexer verify` checks;
//   - the table has no notification of it, and no notification that was removed from it
//     waits in memory; PauseScans prevents removals in the meantime.
//
// An acknowledgement only guarantees that the run for a change commits once. Under these
// conditions no change at or below A is pending any more. A later
// notification is above A, and the acknowledgement would not have prevented its run.
//
// # Why not on a table that several processes share
//
// PauseScans knows the queue of one process only. Another process may have read the notification
// from the table just before it was removed, and begin its run only after the safe point has
// passed A: at that moment it has no open transaction, so nothing holds the safe point back.
// If the acknowledgement is collected in between, its run commits a second time. A lock in
// the queue, or a bound that it publishes before it reads the notification, does not help,
// because the run that removed the notification may be older than either.
//
// It would be safe if each run read the acknowledgement first and then checked that the
// notification still exists, because collection requires that it is gone. That costs one more
// read in each run of every observer, and saves some 100 bytes for each forgotten page. So
// shared tables keep acknowledgements.
func (db *DB) collectAcks(ctx context.Context, from []byte, got *Collected, queue Queue) (next []byte, err error) {
	if queue == nil || got.SafePoint <= 1 || db.Shared() { // PauseScans knows only this process
		return nil, nil
	}
	var acks []ack
	r := store.Range{Group: ackGroup, Start: from, MaxTS: got.SafePoint - 1, MaxCells: scanPage}
	next, err = db.table.Scan(ctx, r, func(c store.Cell) error {
		col, observer, ok := parseObserverColumn(c.Column)
		if !ok {
			return fmt.Errorf("acknowledgement in row %q has the column %q: %w", c.Row, c.Column, store.ErrCorrupt)
		}
		acks = append(acks, ack{Cell{string(c.Row), col}, observer, c.Column, c.TS})
		return nil
	})
	if err != nil {
		return nil, err
	}
	var gone []ack
	for _, a := range acks {
		orphaned, err := db.orphaned(ctx, a)
		if err != nil {
			return nil, err
		}
		if orphaned {
			gone = append(gone, a)
		}
	}
	if len(gone) == 0 {
		return next, nil
	}
	return next, queue.PauseScans(func(waiting func(row, observer string) bool) error {
		return db.removeAcks(ctx, gone, waiting, got)
	})
}

// orphaned reports whether both the cell and its notification are gone.
func (db *DB) orphaned(ctx context.Context, a ack) (bool, error) {
	cells, err := db.table.Read(ctx, []byte(a.cell.Row), append(db.notifications(a.cell, a.observer),
		store.Selector{Group: lockGroup, Column: sideColumn(a.cell.Column)},
		store.Selector{Group: a.cell.Group, Column: recordColumn(kindWrite, a.cell.Name), Newest: 1},
	)...)
	return len(cells) == 0, err
}

// removeAcks checks again, now that no run removes notifications.
func (db *DB) removeAcks(ctx context.Context, gone []ack, waiting func(row, observer string) bool, got *Collected) error {
	var rows []store.RowMutation
	for _, a := range gone {
		if waiting(a.cell.Row, a.observer) {
			continue
		}
		orphaned, err := db.orphaned(ctx, a)
		if err != nil {
			return err
		}
		if orphaned {
			rows = append(rows, store.RowMutation{Row: []byte(a.cell.Row), Mutations: []store.Mutation{
				{Op: store.DeleteUpTo, Group: ackGroup, Column: a.column, TS: a.ts}, // a newer one stays
			}})
		}
	}
	got.Acks += len(rows)
	return db.apply(ctx, rows)
}
