package txn

import (
	"context"
	"errors"

	"indexer/store"
)

// GetForUpdate is Get, and makes the cell part of the commit as if the transaction
// wrote it, without changing it: a read lock. Of two transactions of which neither
// saw the other, and that both write a cell or get it for update, at most one
// commits: the first committer wins, the other gets ErrConflict. The cell need not
// exist. A transaction that writes nothing conflicts, and must commit, too.
//
// This closes write skew (docs/transactions.md). Snapshot isolation lets two
// transactions commit that each read what the other writes; it is enough that one
// of the two gets for update what the other writes. It locks a cell, not a range:
// where a decision rests on a scan ("there is none"), let those who add to the
// range write, and those who decide get for update, one cell that stands for it.
//
// Nothing is locked before the commit; what it costs is a record per cell, and
// conflicts. A cell that many read for update is a hot cell, as if they wrote it.
//
// # How
//
// A committed lock leaves a record in the group ~read, at the commit timestamp.
// Both paths refuse whoever writes the cell, or gets it for update, if there is
// such a record above their start timestamp; and they refuse the locker if there
// is a write above its own. In two phases the cell is locked like one that is
// written (op "read" in the lock), so that whoever commits at the same time runs
// into the lock, and a stranger who rolls forward leaves the record too.
//
// Why not look at the writes alone, and leave no record? Then the locker would be
// safe from writes before its commit, but a writer that read what the locker wrote,
// before that, could commit after it: both must lock to be safe (PostgreSQL's
// SELECT FOR UPDATE is like that). Why not write the value again? Values can be
// large, readers would take it for a change, and so would observers. Why a group
// of its own? One version of each cell is enough; and as long as a program locks
// nothing the group is empty, which the store knows without looking.
func (t *Txn) GetForUpdate(ctx context.Context, row string, c Column) (Value, error) {
	if t.readOnly {
		return Value{}, errReadOnly
	}
	v, err := t.Get(ctx, row, c)
	if err != nil {
		return Value{}, err
	}
	t.lockForUpdate(Cell{row, c})
	return v, nil
}

var errReadOnly = errors.New("txn: a transaction made by At only reads: use Begin to get for update")

func (t *Txn) lockForUpdate(cell Cell) {
	if t.locks.get(cell) == nil {
		t.locks.add(&write{cell: cell, op: opRead})
	}
}

// onlyRead lists the cells that were got for update and not written.
func (t *Txn) onlyRead() []*write {
	var cells []*write
	for _, w := range t.locks.order {
		if t.writes.get(w.cell) == nil {
			cells = append(cells, w)
		}
	}
	return cells
}

// unread holds if nobody who got the column, named by its sideColumn, for update
// committed after our start.
func (t *Txn) unread(side []byte) store.Selector {
	return store.Selector{Group: readGroup, Column: side, MinTS: t.start}
}

// readForUpdate is the record that a committed read lock leaves.
func readForUpdate(c Column, commit uint64) store.Mutation {
	return store.Mutation{Op: store.Put, Group: readGroup, Column: sideColumn(c), TS: commit}
}

// Garbage collection removes these records at or below the safe point: a record
// stands in the way of transactions with a start timestamp below its own, and no such
// transaction is open any more.

// removeRead removes such a record; a newer one stays.
func removeRead(c store.Cell) store.RowMutation {
	return store.RowMutation{Row: c.Row, Mutations: []store.Mutation{{Op: store.Delete, Group: readGroup, Column: c.Column, TS: c.TS}}}
}

// collectReads removes a page of these records and returns where the next page starts.
func (db *DB) collectReads(ctx context.Context, from []byte, got *Collected) (next []byte, err error) {
	if got.SafePoint == 0 {
		return nil, nil
	}
	var rows []store.RowMutation
	r := store.Range{Group: readGroup, Start: from, MaxTS: got.SafePoint, MaxCells: scanPage}
	next, err = db.table.Scan(ctx, r, func(c store.Cell) error {
		rows = append(rows, removeRead(c))
		return nil
	})
	if err != nil {
		return nil, err
	}
	got.Reads += len(rows)
	return next, db.remove(ctx, rows)
}
