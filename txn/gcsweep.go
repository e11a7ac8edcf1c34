package txn

import (
	"context"
	"slices"
	"time"

	"github.com/webindexer/indexer/store"
)

// pause is called after a piece of work with its duration.
type pause func(ctx context.Context, took time.Duration) error

// scanCells is the number of records that a sweep reads at a time.
const scanCells = 2048

// sweepPlace is where a sweep continues: a row of one of the application's groups or,
// after the last of them, of the read locks and the acknowledgements. The zero value is
// both the beginning and the end.
type sweepPlace struct {
	group string
	row   string
}

// sweepPage collects some rows, and advances place.
func (db *DB) sweepPage(ctx context.Context, place *sweepPlace, got *Collected, queue Queue) error {
	groups := append(db.AppGroups(), readGroup, ackGroup)
	if place.group == "" {
		place.group = groups[0]
	}
	var (
		next []byte
		err  error
	)
	switch place.group {
	case readGroup:
		next, err = db.collectReads(ctx, []byte(place.row), got)
	case ackGroup:
		next, err = db.collectAcks(ctx, []byte(place.row), got, queue)
	default:
		next, err = db.sweepRows(ctx, place.group, []byte(place.row), got)
	}
	switch i := slices.Index(groups, place.group) + 1; {
	case err != nil:
		return err
	case next != nil:
		place.row = string(next)
	case i == len(groups):
		*place = sweepPlace{}
	default:
		*place = sweepPlace{group: groups[i]}
	}
	return nil
}

// sweep collects everything. Acknowledgements come last, after their cells.
func (db *DB) sweep(ctx context.Context, got *Collected, opts CollectOptions) error {
	for place := (sweepPlace{}); ; {
		if err := db.sweepPage(ctx, &place, got, opts.Queue); err != nil || place == (sweepPlace{}) {
			return err
		}
		if opts.Progress != nil {
			opts.Progress(*got)
		}
	}
}

// sweepRows collects some rows and returns where to continue. It drops values as
// it reads them, so a page of large values takes no memory.
func (db *DB) sweepRows(ctx context.Context, group string, from []byte, got *Collected) (next []byte, err error) {
	var (
		rows    []store.RowMutation
		row     string
		columns = make(map[string][]gcRecord)
	)
	end := func() {
		for name, records := range columns {
			dead, _ := garbageOf(records, got.SafePoint)
			rows = append(rows, got.removals(Cell{row, Column{group, name}}, dead)...)
			got.Cells++
		}
		clear(columns)
	}
	next, err = db.table.Scan(ctx, store.Range{Group: group, Start: from, MaxCells: scanCells}, func(c store.Cell) error {
		name, r, err := readRecord(c)
		if err != nil {
			return err
		}
		if string(c.Row) != row {
			end()
			row = string(c.Row)
		}
		columns[name] = append(columns[name], r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	end()
	return next, db.apply(ctx, rows)
}
