package txn

import (
	"context"

	"github.com/webindexer/indexer/store"
)

// fewApart is how many values of a page are read one by one. Where there are more, pageValues scans
// for them: that is one request to the store instead of one for each value.
const fewApart = 8

// pageValues returns the values of a page of write records, which ascend by row.
func (t *Txn) pageValues(ctx context.Context, group string, cells []store.Cell) ([]Value, error) {
	values := make([]Value, len(cells))
	apart := make(map[dataCell]int) // to the place of its value
	for i, c := range cells {
		v, start, err := decodeCell(c)
		if err != nil {
			return nil, err
		}
		values[i] = v
		if v.apart {
			apart[dataCell{string(c.Row), string(c.Column[1:]), start}] = i
		}
	}
	if len(apart) > fewApart {
		return values, t.scanData(ctx, group, cells[0].Row, cells[len(cells)-1].Row, apart, values)
	}
	for d, i := range apart {
		var err error
		if values[i].Data, err = t.readData(ctx, d.row, Column{group, d.name}, d.start); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// A dataCell is the cell of a value that is not in its write record, by the start timestamp of the
// transaction that wrote it.
type dataCell struct {
	row, name string
	start     uint64
}

// scanData fetches the values of data cells in the rows from first to last. It meets their earlier
// versions as well, which nobody has collected yet.
func (t *Txn) scanData(ctx context.Context, group string, first, last []byte, apart map[dataCell]int, values []Value) error {
	end := append(last[:len(last):len(last)], 0)
	for from := first; from != nil; {
		var err error
		from, err = t.reader().Scan(ctx, store.Range{
			Group: group, Start: from, End: end, ColumnPrefix: []byte{kindData}, MaxTS: t.start, MaxCells: scanPage,
		}, func(c store.Cell) error {
			d := dataCell{string(c.Row), string(c.Column[1:]), c.TS}
			if i, ok := apart[d]; ok {
				values[i].Data = c.Value
				delete(apart, d)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for d := range apart {
		return missingData(Cell{d.row, Column{group, d.name}}, d.start)
	}
	return nil
}
