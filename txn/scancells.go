package txn

import (
	"context"
	"errors"
	"fmt"

	"github.com/webindexer/indexer/store"
)

// cellsPage is how many cells ScanCells reads at a time.
const cellsPage = 4096

// ScanCells calls fn for each cell of a group that exists as of the start timestamp in the rows
// from start to below end, rows ascending, columns ascending; "" means no bound. data is the value if
// the column is the one named, and nil otherwise. row, name and data are valid until fn returns.
//
// It is for transactions that count or add up. It sees what Scan sees, but it reads only the
// values of that column, and its memory does not depend on the number of cells.
func (t *Txn) ScanCells(ctx context.Context, group, start, end, column string, fn func(row, name, data []byte) error) error {
	if err := t.readable(); err != nil {
		return err
	}
	err := t.scanCells(ctx, group, start, end, column, fn)
	if errors.Is(err, ErrStop) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("txn: scan %s: %w", group, err)
	}
	return nil
}

func (t *Txn) scanCells(ctx context.Context, group, start, end, column string, fn func(row, name, data []byte) error) error {
	if len(t.writes.order) > 0 {
		return t.scan(ctx, group, start, end, func(row string, cols []Version) error {
			for _, c := range cols {
				var data []byte
				if c.Name == column {
					data = c.Data
				}
				if err := fn([]byte(row), []byte(c.Name), data); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := t.clearLocks(ctx, group, start, end); err != nil {
		return err
	}
	p := &cellPage{column: column}
	for from := []byte(start); ; {
		next, err := p.fill(ctx, t.reader(), store.Range{
			Group: group, Start: from, End: bound(end), ColumnPrefix: []byte{kindWrite}, MaxTS: t.start, Newest: 1, MaxCells: cellsPage, Borrowed: true,
		})
		if err != nil {
			return err
		}
		for i := range p.cells {
			c := &p.cells[i]
			row, name := p.bytes[c.row:c.rowEnd], p.bytes[c.rowEnd:c.nameEnd]
			var data []byte
			if string(name) == column {
				v, err := t.decodeValue(ctx, string(row), column, store.Cell{Group: group, Row: row, TS: c.ts, Value: p.bytes[c.nameEnd:c.end]})
				if err != nil {
					return err
				}
				data = v.Data
			}
			if err := fn(row, name, data); err != nil {
				return err
			}
		}
		if next == nil {
			return nil
		}
		from = next
	}
}

// cellPage is a page of cells whose bytes are in one buffer, which the next page reuses. fn
// is called when the page is complete and the engine's scan has ended, because fn may
// itself read from the engine.
type cellPage struct {
	column string
	bytes  []byte
	cells  []pagedCell
}

// pagedCell has a row, then a column name, then the write record if the data is wanted.
type pagedCell struct {
	row, rowEnd, nameEnd, end int
	ts                        uint64
}

func (p *cellPage) fill(ctx context.Context, from store.Reader, r store.Range) (next []byte, err error) {
	p.bytes, p.cells = p.bytes[:0], p.cells[:0]
	return from.Scan(ctx, r, func(c store.Cell) error {
		if v, _, err := decodeCell(c); err != nil || !v.Exists {
			return err
		}
		cell := pagedCell{row: len(p.bytes), ts: c.TS}
		p.bytes = append(p.bytes, c.Row...)
		cell.rowEnd = len(p.bytes)
		p.bytes = append(p.bytes, c.Column[1:]...)
		cell.nameEnd = len(p.bytes)
		if string(c.Column[1:]) == p.column {
			p.bytes = append(p.bytes, c.Value...)
		}
		cell.end = len(p.bytes)
		p.cells = append(p.cells, cell)
		return nil
	})
}
