package txn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/store"
)

// ErrStop, returned by the function given to Scan, ends the scan without an error.
var ErrStop = errors.New("txn: stop the scan")

// A page of a scan ends, between two rows, after scanPage cells, or when its values take scanBytes.
const (
	scanPage  = 512
	scanBytes = 4 << 20
)

// Scan calls fn for each row in [start, end) that has columns in group, rows
// ascending, columns ascending, as of the start timestamp and with the
// writes that the transaction made before the scan. An empty end is the end of the
// group.
func (t *Txn) Scan(ctx context.Context, group, start, end string, fn func(row string, cols []Version) error) error {
	if err := t.readable(); err != nil {
		return err
	}
	err := t.scan(ctx, group, start, end, fn)
	if errors.Is(err, ErrStop) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("txn: scan %s from %q: %w", group, start, err)
	}
	return nil
}

// ScanPrefix scans the rows that start with prefix.
func (t *Txn) ScanPrefix(ctx context.Context, group, prefix string, fn func(row string, cols []Version) error) error {
	return t.Scan(ctx, group, prefix, PrefixEnd(prefix), fn)
}

// PrefixEnd is the first row after all rows that start with prefix; "" if there
// is none.
func PrefixEnd(prefix string) string { return string(store.PrefixEnd([]byte(prefix))) }

func (t *Txn) scan(ctx context.Context, group, start, end string, fn func(string, []Version) error) error {
	rows, ahead := t.scannedAhead(group, start, end)
	if !ahead {
		if err := t.clearLocks(ctx, group, start, end); err != nil {
			return err
		}
	}
	own := t.ownRows(group, start, end)
	for next := []byte(start); ; {
		if !ahead {
			var err error
			if rows, next, err = t.scanPage(ctx, group, next, bound(end)); err != nil {
				return err
			}
		}
		for _, r := range rows {
			if err := own.merge(r, fn); err != nil {
				return err
			}
		}
		if ahead || next == nil {
			return own.rest(fn)
		}
	}
}

// clearLocks resolves locks from below the start timestamp in a range, or waits for them.
// It runs once, before the writes are read. If a transaction commits below our start
// timestamp, its locks were there before we got ours. So if clearLocks does not find one,
// either it was resolved, and the write can be read, or the transaction commits above us.
func (t *Txn) clearLocks(ctx context.Context, group, start, end string) error {
	for wait := (backoff{}); ; {
		locks, err := t.locksIn(ctx, group, start, end)
		if err != nil || len(locks) == 0 {
			return err
		}
		if err := t.resolveLocks(ctx, locks, &wait); err != nil {
			return err
		}
	}
}

// locksIn returns the first locks from below the start timestamp in a range.
func (t *Txn) locksIn(ctx context.Context, group, start, end string) (locks []store.Cell, err error) {
	r := store.Range{
		Group: lockGroup, Start: []byte(start), End: bound(end), ColumnPrefix: append([]byte(group), 0), MaxTS: t.start, MaxCells: scanPage,
	}
	_, err = t.reader().Scan(ctx, r, func(c store.Cell) error {
		locks = append(locks, c)
		return nil
	})
	return locks, err
}

func bound(end string) []byte {
	if end == "" {
		return nil
	}
	return []byte(end)
}

// scannedRow is a row as stored, without the transaction's own writes.
type scannedRow struct {
	row  string
	cols []Version
}

// scanPage reads some rows, and returns where to continue.
func (t *Txn) scanPage(ctx context.Context, group string, from, end []byte) ([]scannedRow, []byte, error) {
	var cells []store.Cell
	size := 0
	next, err := t.fillPage(ctx, store.Range{
		Group: group, Start: from, End: end, ColumnPrefix: []byte{kindWrite}, MaxTS: t.start, Newest: 1, MaxCells: scanPage,
	}, &size, func(c store.Cell) int {
		cells = append(cells, c)
		return len(c.Value)
	})
	if err != nil {
		return nil, nil, err
	}
	values, rest, err := t.pageValues(ctx, group, cells)
	if err != nil {
		return nil, nil, err
	}
	if rest != nil {
		n, _ := slices.BinarySearchFunc(cells, rest, func(c store.Cell, row []byte) int { return bytes.Compare(c.Row, row) })
		cells, next = cells[:n], rest
	}
	var rows []scannedRow
	for i, c := range cells {
		if n := len(rows); n == 0 || rows[n-1].row != string(c.Row) {
			rows = append(rows, scannedRow{row: string(c.Row)})
		}
		if values[i].Exists {
			last := &rows[len(rows)-1]
			last.cols = append(last.cols, Version{Name: string(c.Column[1:]), Value: values[i]})
		}
	}
	return rows, next, nil
}

// errFull ends the scan for a page that has no room for another row.
var errFull = errors.New("txn: the page is full")

// fillPage calls add for the cells of a range, until those that it keeps take scanBytes, and returns
// where to continue. add returns how many bytes it keeps; size is their sum.
func (t *Txn) fillPage(ctx context.Context, r store.Range, size *int, add func(store.Cell) int) (next []byte, err error) {
	var row []byte
	next, err = t.reader().Scan(ctx, r, func(c store.Cell) error {
		if *size >= scanBytes && !bytes.Equal(c.Row, row) {
			return errFull
		}
		row = c.Row
		*size += add(c)
		return nil
	})
	if errors.Is(err, errFull) {
		err = t.waitUntilAlive(ctx) // the reader does so only after a scan to the end
	}
	return next, err
}
