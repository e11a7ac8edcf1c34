package txn

import (
	"context"

	"indexer/store"
)

// Records of cells that were got for update (forupdate.go) go once they are at or
// below the safe point: they are in the way of transactions with a start timestamp
// below theirs, and no such transaction is open any more.

// removeRead is the removal of such a record; a newer one stays.
func removeRead(c store.Cell) store.RowMutation {
	return store.RowMutation{Row: c.Row, Mutations: []store.Mutation{{Op: store.Delete, Group: readGroup, Column: c.Column, TS: c.TS}}}
}

// collectReads collects a page of them, and returns where to go on.
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
