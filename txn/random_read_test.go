package txn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// The reads of a random program: each must return what the model returns, or find a
// lock that it has to wait for.

func (r *random) get(x *randomTxn, c Cell) {
	ctx, cancel := r.patience(x, func(d Cell) bool { return d == c })
	defer cancel()
	v, err := x.tx.Get(ctx, c.Row, c.Column)
	r.compareCell(x, c, v, err)
}

// prefetch reads all columns of a row in one look-up, and then one of them.
func (r *random) prefetch(x *randomTxn, c Cell) {
	ctx, cancel := r.patience(x, func(d Cell) bool { return d.Row == c.Row })
	defer cancel()
	var columns []Column
	for i := range randomColumns {
		columns = append(columns, app(string(rune('a'+i))))
	}
	if err := x.tx.Prefetch(ctx, c.Row, columns...); err != nil {
		r.logf("%d prefetches %q: %v", x.start, c.Row, err)
		r.excuse(x, err, func(d Cell) bool { return d.Row == c.Row })
		return
	}
	r.get(x, c)
}

func (r *random) getForUpdate(x *randomTxn, c Cell) {
	ctx, cancel := r.patience(x, func(d Cell) bool { return d == c })
	defer cancel()
	v, err := x.tx.GetForUpdate(ctx, c.Row, c.Column)
	r.logf("%d locks %s", x.start, c)
	if err == nil {
		x.locks[c] = true
	}
	r.compareCell(x, c, v, err)
}

func (r *random) compareCell(x *randomTxn, c Cell, v Value, err error) {
	want := r.model.get(&x.modelTxn, c)
	r.logf("%d reads %s: %.8s at %d, %v", x.start, c, v.Data, v.TS, err)
	switch {
	case err != nil:
		r.excuse(x, err, func(d Cell) bool { return d == c })
	case string(v.Data) != string(want.Data) || v.Exists != want.Exists || v.TS != want.TS:
		r.wrongf("%d read %q at %d from %s, want %q at %d", x.start, v.Data, v.TS, c, want.Data, want.TS)
	}
}

func (r *random) getRow(x *randomTxn, row string) {
	ctx, cancel := r.patience(x, func(d Cell) bool { return d.Row == row })
	defer cancel()
	cols, err := x.tx.GetRow(ctx, row, "app")
	var got []string
	for _, v := range cols {
		got = append(got, describeVersion(row, v))
	}
	r.compare(x, row, got, err)
}

func (r *random) scan(x *randomTxn) {
	ctx, cancel := r.patience(x, func(Cell) bool { return true })
	defer cancel()
	got, err := scanAll(ctx, x.tx)
	r.compare(x, "", got, err)
}

func scanAll(ctx context.Context, tx *Txn) (got []string, err error) {
	var cells []scannedCell
	err = tx.Scan(ctx, "app", "", "", func(row string, cols []Version) error {
		for _, v := range cols {
			got = append(got, describeVersion(row, v))
			cells = append(cells, scannedCell{row, v.Name, string(v.Data)})
		}
		return nil
	})
	if err != nil {
		return got, err
	}
	return got, sameCells(ctx, tx, "app", cells)
}

// scannedCell is a cell that a scan has returned.
type scannedCell struct{ row, name, data string }

// sameCells returns an error unless ScanCells returns the cells that Scan has returned, in all rows and in
// some of them.
func sameCells(ctx context.Context, tx *Txn, group string, want []scannedCell) error {
	columns := map[string]bool{"": true}
	for _, c := range want {
		columns[c.name] = true
	}
	for column := range columns {
		if err := sameCellsIn(ctx, tx, group, "", "", column, want); err != nil {
			return err
		}
	}
	if len(want) == 0 {
		return nil
	}
	return sameCellsIn(ctx, tx, group, want[len(want)/3].row, want[2*len(want)/3].row, want[0].name, want)
}

func sameCellsIn(ctx context.Context, tx *Txn, group, start, end, column string, want []scannedCell) error {
	var got, expected []scannedCell
	err := tx.ScanCells(ctx, group, start, end, column, func(row, name, data []byte) error {
		got = append(got, scannedCell{string(row), string(name), string(data)})
		return nil
	})
	if err != nil {
		return err
	}
	for _, c := range want {
		if c.name != column {
			c.data = ""
		}
		if c.row >= start && (end == "" || c.row < end) {
			expected = append(expected, c)
		}
	}
	if !slices.Equal(got, expected) {
		return fmt.Errorf("ScanCells from %q to %q for column %q met %d cells\n%.300q, Scan %d\n%.300q", start, end, column, len(got), got, len(expected), expected)
	}
	return nil
}

func (r *random) compare(x *randomTxn, row string, got []string, err error) {
	want := r.model.row(&x.modelTxn, row)
	r.logf("%d reads row %q: %d columns, %v", x.start, row, len(got), err)
	switch {
	case err != nil:
		r.excuse(x, err, func(d Cell) bool { return row == "" || d.Row == row })
	case !slices.Equal(got, want):
		r.wrongf("%d read in row %q\n%q, want\n%q", x.start, row, got, want)
	}
}

// excuse accepts that a read timed out if a stopped commit may hold a lock on
// what it read.
func (r *random) excuse(x *randomTxn, err error, concerns func(Cell) bool) {
	if !errors.Is(err, context.DeadlineExceeded) {
		r.wrongf("%d: %v", x.start, err)
		return
	}
	if !r.blocked(x, concerns) {
		r.wrongf("%d waited for nobody", x.start)
	}
}

// blocked reports whether a read may find a lock of a transaction that stopped in the
// middle of its commit.
func (r *random) blocked(x *randomTxn, concerns func(Cell) bool) bool {
	return slices.ContainsFunc(r.live, func(y *randomTxn) bool {
		return y.stopped && y.start < x.start && slices.ContainsFunc(y.cells(), concerns)
	})
}

// patience is short where a read may have to wait for a lock, and long where it may not: a
// busy machine must not look like a lock.
func (r *random) patience(x *randomTxn, concerns func(Cell) bool) (context.Context, context.CancelFunc) {
	wait := time.Minute
	if r.blocked(x, concerns) {
		wait = randomWait
	}
	return context.WithTimeout(context.Background(), wait)
}

func (x *randomTxn) cells() (cells []Cell) {
	for c := range x.writes {
		cells = append(cells, c)
	}
	for c := range x.triggers {
		cells = append(cells, c)
	}
	for c := range x.locks {
		cells = append(cells, c)
	}
	return cells
}

// compareAll compares the whole table with the model, in a new process.
func (r *random) compareAll() {
	r.begin()
	x := r.live[len(r.live)-1]
	got, err := scanAll(context.Background(), x.tx)
	r.compare(x, "", got, err)
}

// compareNotifications checks that none was lost: every write to the observed
// column that no run has answered has a notification at least as new.
func (r *random) compareNotifications() {
	notes, _, err := r.db.Notifications(context.Background(), "", 0)
	if err != nil {
		r.wrongf("%v", err)
		return
	}
	at := make(map[Cell]uint64)
	for _, n := range notes {
		at[n.Cell] = n.TS
	}
	for c, vs := range r.model.versions {
		if last := vs[len(vs)-1].commit; c.Name == observed && last > r.model.answered[c] && at[c] < last {
			r.wrongf("%s was written at %d, answered up to %d, and its notification is at %d", c, last, r.model.answered[c], at[c])
		}
	}
}
