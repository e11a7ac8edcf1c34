package txn

import (
	"context"
	"errors"

	"github.com/webindexer/indexer/store"
)

// GetForUpdate is Get, and makes the cell part of the commit as if the transaction
// wrote it, without changing it: a read lock. If two transactions both write a cell or
// read it for update, and neither saw the other, at most one of them commits: the first
// committer wins, and the other gets ErrConflict. The cell need not exist. A transaction
// that writes nothing can conflict too, and must also commit.
//
// This prevents write skew (docs/transactions.md). Under snapshot isolation, two
// transactions that each read a cell that the other writes can both commit. It is enough
// if one of the two reads that cell for update. GetForUpdate locks a cell, not a range.
// If a decision depends on a scan ("there is none"), choose one cell that represents the
// range: transactions that add to the range write it, and transactions that decide read
// it for update.
//
// Nothing is locked before the commit. The cost is a record per cell, and
// conflicts. A cell that many transactions read for update is as hot as if they wrote it.
//
// # How
//
// A committed read lock leaves a record in the group ~read, at the commit timestamp.
// Both commit paths refuse a transaction that writes the cell, or reads it for update, if
// such a record exists above its start timestamp; and they refuse the reader if there
// is a write above its own. In two phases the cell is locked like one that is
// written (op "read" in the lock). So a transaction that commits at the same time finds
// the lock, and a process that rolls the reader forward leaves the record too.
//
// Why not check only the writes, and leave no record? Then the reader would be
// safe from writes before its commit. But a writer that had already read one of the
// reader's cells could commit after it, so both would have to lock to be safe (as
// with PostgreSQL's SELECT FOR UPDATE). Why not write the value again? Values can
// be large, and readers and observers would mistake it for a change. Why a group of
// its own? One version of each cell is enough; and in a program that locks nothing
// the group is empty, which the store knows from memory.
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
		t.locks.add(write{cell: cell, op: opRead})
	}
}

// onlyRead lists the cells that were read for update and not written.
func (t *Txn) onlyRead() []*write {
	var cells []*write
	for _, w := range t.locks.order {
		if t.writes.get(w.cell) == nil {
			cells = append(cells, w)
		}
	}
	return cells
}

// unread holds if no transaction that read the column for update committed after our
// start. The column is named by its sideColumn.
func (t *Txn) unread(side []byte) store.Selector {
	return store.Selector{Group: readGroup, Column: side, MinTS: t.start}
}

// readForUpdate is the record that a committed read lock leaves.
func readForUpdate(c Column, commit uint64) store.Mutation {
	return store.Mutation{Op: store.Put, Group: readGroup, Column: sideColumn(c), TS: commit}
}

// Garbage collection removes these records at or below the safe point: a record
// only conflicts with transactions with an earlier start timestamp, and no such
// transaction is open.

// removeRead removes such a record; a newer one stays.
func removeRead(c store.Cell) store.RowMutation {
	return store.RowMutation{Row: c.Row, Mutations: []store.Mutation{{Op: store.DeleteUpTo, Group: readGroup, Column: c.Column, TS: c.TS}}}
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
	return next, db.apply(ctx, rows)
}
