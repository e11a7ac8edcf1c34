package txn

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/webindexer/indexer/store"
)

// The numbers of the protocol itself, such as the safe point, are cells of metaGroup: 8 bytes,
// big-endian.

// readNumber reads a number, 0 if there is none.
func readNumber(ctx context.Context, table store.Reader, row, column []byte, what string) (uint64, error) {
	cells, err := table.Read(ctx, row, store.Selector{Group: metaGroup, Column: column, Newest: 1})
	if err != nil {
		return 0, fmt.Errorf("txn: read %s: %w", what, err)
	}
	if len(cells) == 0 {
		return 0, nil
	}
	if len(cells[0].Value) != 8 {
		return 0, fmt.Errorf("txn: %s has %d bytes, not 8: %w", what, len(cells[0].Value), store.ErrCorrupt)
	}
	return binary.BigEndian.Uint64(cells[0].Value), nil
}

// putNumber writes a number.
func putNumber(column []byte, ts, n uint64) store.Mutation {
	return store.Mutation{Op: store.Put, Group: metaGroup, Column: column, TS: ts, Value: binary.BigEndian.AppendUint64(nil, n)}
}

// deleteMeta deletes a cell of metaGroup with all its versions.
func deleteMeta(column []byte) store.Mutation {
	return store.Mutation{Op: store.DeleteUpTo, Group: metaGroup, Column: column, TS: store.MaxTS}
}

// applyRow changes one row of a table, without guards.
func applyRow(ctx context.Context, table store.Table, row []byte, ms ...store.Mutation) error {
	return table.Apply(ctx, []store.RowMutation{{Row: row, Mutations: ms}})
}
