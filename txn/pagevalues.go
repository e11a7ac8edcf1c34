package txn

import (
	"context"

	"github.com/webindexer/indexer/store"
)

// fewApart is how many values of a page are read one by one. Where there are more, pageValues scans
// for them: that is one request to the store instead of one for each value.
const fewApart = 8

// pageValues returns the values of a page of write records, which ascend by row. If those of some
// rows already fill a page, rest is the row after them, and the values from there on are missing.
func (t *Txn) pageValues(ctx context.Context, group string, cells []store.Cell) (_ []Value, rest []byte, _ error) {
	values := make([]Value, len(cells))
	apart := make(map[dataCell]int) // to the place of its value
	for i, c := range cells {
		v, start, err := decodeCell(c)
		if err != nil {
			return nil, nil, err
		}
		values[i] = v
		if v.apart {
			apart[dataCell{string(c.Row), string(c.Column[1:]), start}] = i
		}
	}
	if len(apart) > fewApart {
		rest, err := t.scanData(ctx, group, cells[0].Row, cells[len(cells)-1].Row, apart, values)
		return values, rest, err
	}
	for d, i := range apart {
		var err error
		if values[i].Data, err = t.readData(ctx, d.row, Column{group, d.name}, d.start); err != nil {
			return nil, nil, err
		}
	}
	return values, nil, nil
}

// A dataCell is the cell of a value that is not in its write record, by the start timestamp of the
// transaction that wrote it.
type dataCell struct {
	row, name string
	start     uint64
}

// scanData fetches the values of data cells in the rows from first to last, or until they fill a
// page; rest is then the row at which it ended. It also meets earlier versions that have not been
// collected yet.
func (t *Txn) scanData(ctx context.Context, group string, first, last []byte, apart map[dataCell]int, values []Value) (rest []byte, err error) {
	end := append(last[:len(last):len(last)], 0)
	size := 0
	for rest = first; rest != nil && size < scanBytes; {
		rest, err = t.fillPage(ctx, store.Range{
			Group: group, Start: rest, End: end, ColumnPrefix: []byte{kindData}, MaxTS: t.start, MaxCells: scanPage,
		}, &size, func(c store.Cell) int {
			d := dataCell{string(c.Row), string(c.Column[1:]), c.TS}
			i, ok := apart[d]
			if !ok {
				return 0
			}
			values[i].Data = c.Value
			delete(apart, d)
			return len(c.Value)
		})
		if err != nil {
			return nil, err
		}
	}
	for d := range apart {
		if rest == nil || d.row < string(rest) {
			return nil, missingData(Cell{d.row, Column{group, d.name}}, d.start)
		}
	}
	return rest, nil
}
