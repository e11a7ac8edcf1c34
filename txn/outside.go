package txn

import (
	"context"
	"fmt"

	"github.com/webindexer/indexer/store"
)

// EachCommitted calls fn for the newest committed value of a column in each row of a table
// that has one and begins with prefix. An engine may have to visit all rows with the prefix,
// including those without the column, so choose a narrow one. EachCommitted is for tools that look
// at a table from outside: it takes no timestamp, waits for no lock, writes nothing, and needs no
// oracle. In return, the values are not a snapshot, and a transaction whose primary is committed
// may still be missing in other rows. An error that matches [store.ErrCorrupt] may name a row that
// cannot be read; fn has been called for all others.
func EachCommitted(ctx context.Context, table store.Reader, c Column, prefix string, fn func(row string, value []byte) error) error {
	column := recordColumn(kindWrite, c.Name)
	type found struct {
		row   string
		write writeRecord
	}
	var list []found
	var damaged error
	r := store.Range{Group: c.Group, Start: []byte(prefix), End: bound(PrefixEnd(prefix)), ColumnPrefix: column, Newest: 1}
	_, err := table.Scan(ctx, r, func(cell store.Cell) error {
		if string(cell.Column) != string(column) {
			return nil
		}
		w, err := decodeWrite(cell.Value)
		switch {
		case err != nil:
			damaged = fmt.Errorf("txn: row %q: %w", cell.Row, err)
		case w.op == opPut:
			list = append(list, found{string(cell.Row), w})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("txn: read the newest values of %s: %w", c, err)
	}
	for _, f := range list {
		value := f.write.value
		if !f.write.inline {
			data := store.Selector{Group: c.Group, Column: recordColumn(kindData, c.Name), MinTS: f.write.start, MaxTS: f.write.start}
			cells, err := table.Read(ctx, []byte(f.row), data)
			if err != nil {
				return fmt.Errorf("txn: read the newest value of %s: %w", Cell{f.row, c}, err)
			}
			if len(cells) == 0 {
				continue // replaced and collected since the scan
			}
			value = cells[0].Value
		}
		if err := fn(f.row, value); err != nil {
			return err
		}
	}
	return damaged
}

// EachCommitted calls fn for the newest committed value of a column in each row that has one
// and begins with prefix. The values are not a snapshot: see the function of the same name.
func (db *DB) EachCommitted(ctx context.Context, c Column, prefix string, fn func(row string, value []byte) error) error {
	return EachCommitted(ctx, db.table, c, prefix, fn)
}
