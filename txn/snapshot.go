package txn

import (
	"context"
	"fmt"
	"sync"

	"github.com/webindexer/indexer/store"
)

// Value is a value that was read, with the commit timestamp of the transaction that
// wrote it; TS is 0 for the transaction's own writes.
type Value struct {
	Data   []byte
	TS     uint64
	Exists bool

	apart bool // the bytes lie in a data cell, not in the write record
}

// Version is one column of a row with its value.
type Version struct {
	Name string
	Value
}

// Get reads a cell as of the start timestamp: the value of the newest write
// below it. If the cell has a lock with an earlier start timestamp, the owner of the lock may
// have committed below ours, so Get resolves the lock or waits for it first (paper, Figure
// 6, lines 8 to 25). The value must not be changed.
func (t *Txn) Get(ctx context.Context, row string, c Column) (Value, error) {
	v, fresh, err := t.read(ctx, Cell{row, c})
	if fresh {
		t.cells.put(Cell{row, c}, v)
	}
	return v, err
}

// GetOnce is Get without a cache, for transactions that read very many cells,
// each once.
func (t *Txn) GetOnce(ctx context.Context, row string, c Column) (Value, error) {
	v, _, err := t.read(ctx, Cell{row, c})
	return v, err
}

// read reads a cell; fresh says that the value came from the table.
func (t *Txn) read(ctx context.Context, cell Cell) (_ Value, fresh bool, _ error) {
	if err := t.readable(); err != nil {
		return Value{}, false, err
	}
	if w := t.writes.get(cell); w != nil {
		return Value{Data: w.value, Exists: w.op == opPut}, false, nil
	}
	if v, ok := t.cells.get(cell); ok {
		return v, false, nil
	}
	if cols, ok := t.rows[rowGroup{cell.Row, cell.Group}]; ok {
		return findColumn(cols, cell.Name), false, nil
	}
	if v, ok := t.ahead[cell]; ok {
		delete(t.ahead, cell)
		return v, true, nil
	}
	v, err := t.readCell(ctx, cell)
	if err != nil {
		return Value{}, false, fmt.Errorf("txn: get %s: %w", cell, err)
	}
	return v, true, nil
}

// GetRow reads all columns that a row has in one group in one look-up. It
// returns them sorted by name. Later Gets of that row and group are answered
// from memory.
func (t *Txn) GetRow(ctx context.Context, row, group string) ([]Version, error) {
	if err := t.readable(); err != nil {
		return nil, err
	}
	key := rowGroup{row, group}
	cols, ok := t.rows[key]
	if !ok {
		var err error
		if cols, err = t.readRow(ctx, row, group); err != nil {
			return nil, fmt.Errorf("txn: get row %q %s: %w", row, group, err)
		}
		if t.rows == nil {
			t.rows = make(map[rowGroup][]Version)
		}
		t.rows[key] = cols
	}
	return t.overlayRow(row, group, cols), nil
}

// Prefetch reads columns of a row in one look-up. Later Gets of them are answered from
// memory. Unlike GetRow it reads nothing else of the row, and asks the store for cells that
// it can often answer without an iterator.
func (t *Txn) Prefetch(ctx context.Context, row string, columns ...Column) error {
	if err := t.readable(); err != nil {
		return err
	}
	if t.takeAhead(row, columns) {
		return nil
	}
	cells, err := t.readColumns(ctx, row, columns)
	if err != nil {
		return fmt.Errorf("txn: prefetch row %q: %w", row, err)
	}
	values, err := t.valuesOf(ctx, row, columns, cells)
	if err != nil {
		return fmt.Errorf("txn: prefetch row %q: %w", row, err)
	}
	for k, c := range columns {
		cell := Cell{row, c}
		if _, known := t.cells.get(cell); !known {
			t.cells.put(cell, values[k])
		}
	}
	return nil
}

// readColumns reads the newest write records of some columns of a row, after all earlier
// locks on them are resolved.
func (t *Txn) readColumns(ctx context.Context, row string, columns []Column) ([]store.Cell, error) {
	return t.readResolved(ctx, []byte(row), t.selectors(columns))
}

// selectors name the earlier locks on columns of a row, and then the newest write records.
func (t *Txn) selectors(columns []Column) []store.Selector {
	sel := make([]store.Selector, 0, 2*len(columns))
	for _, c := range columns {
		sel = append(sel, store.Selector{Group: lockGroup, Column: sideColumn(c), MaxTS: t.start})
	}
	for _, c := range columns {
		sel = append(sel, store.Selector{Group: c.Group, Column: recordColumn(kindWrite, c.Name), MaxTS: t.start, Newest: 1})
	}
	return sel
}

// readResolved reads until no lock is among the cells, and resolves the locks that are. The
// selectors of locks come first.
func (t *Txn) readResolved(ctx context.Context, row []byte, sel []store.Selector) ([]store.Cell, error) {
	for wait := (backoff{}); ; {
		cells, err := t.reader().Read(ctx, row, sel...)
		if err != nil {
			return nil, err
		}
		locks := 0
		for locks < len(cells) && cells[locks].Group == lockGroup {
			locks++
		}
		if locks == 0 {
			return cells, nil
		}
		if err := t.resolveLocks(ctx, cells[:locks], &wait); err != nil {
			return nil, err
		}
	}
}

func findColumn(cols []Version, name string) Value {
	for _, c := range cols {
		if c.Name == name {
			return c.Value
		}
	}
	return Value{}
}

// reader returns the store's snapshot for this transaction. It must be called after the start
// timestamp was taken: see the proof in oracle.go.
func (t *Txn) reader() store.Reader {
	if t.db.shared != nil {
		return sharedReader{t}
	}
	return t.instant()
}

// instant is reader without the check that other processes still consider this one
// alive.
func (t *Txn) instant() store.Reader {
	if t.db.snapshots == nil {
		return t.db.table
	}
	if t.snap == nil {
		t.snap = t.db.snapshots.Snapshot()
	}
	return t.snap
}

// readRow reads the whole row of a group.
func (t *Txn) readRow(ctx context.Context, row, group string) ([]Version, error) {
	cells, err := t.readRecords(ctx, row, group, "", true)
	if err != nil {
		return nil, err
	}
	return t.decodeRow(ctx, row, cells)
}

// readCell reads one column.
func (t *Txn) readCell(ctx context.Context, c Cell) (Value, error) {
	cells, err := t.readRecords(ctx, c.Row, c.Group, c.Name, false)
	if err != nil || len(cells) == 0 {
		return Value{}, err
	}
	return t.decodeValue(ctx, c.Row, c.Name, cells[0])
}

// readRecords reads the newest write record of one column, or of each column of
// the whole row in a group, after all earlier locks are resolved.
func (t *Txn) readRecords(ctx context.Context, row, group, name string, all bool) ([]store.Cell, error) {
	a := requests.Get().(*request)
	defer requests.Put(a)
	a.names = append(append(a.names[:0], row...), group...)
	a.names = append(append(a.names, 0), name...)
	side := len(a.names)
	a.names = append(append(a.names, kindWrite), name...)
	a.sel[0] = store.Selector{Group: lockGroup, Column: a.names[len(row):side], Prefix: all, MaxTS: t.start}
	a.sel[1] = store.Selector{Group: group, Column: a.names[side:], Prefix: all, MaxTS: t.start, Newest: 1}
	return t.readResolved(ctx, a.names[:len(row)], a.sel[:])
}

// request is a request to the table. The table does not keep it, so the
// next request reuses its memory.
type request struct {
	names []byte // the row, then the column in the locks' group, then its write records
	sel   [2]store.Selector
}

var requests = sync.Pool{New: func() any { return new(request) }}

// resolveLocks resolves the locks that it can resolve, and waits a moment for the rest. The
// caller then reads again from a new snapshot of the store, because the old one would
// always show the locks.
func (t *Txn) resolveLocks(ctx context.Context, locks []store.Cell, wait *backoff) error {
	t.closeSnapshot()
	for _, c := range locks {
		resolved, err := t.db.resolveLock(ctx, c)
		if err != nil {
			return err
		}
		if !resolved {
			t.db.counters.LockWaits.Add(1)
			return wait.sleep(ctx)
		}
	}
	return nil
}

// decodeRow turns write records into values, and fetches values that are not inline.
func (t *Txn) decodeRow(ctx context.Context, row string, cells []store.Cell) ([]Version, error) {
	cols := make([]Version, 0, len(cells))
	for _, c := range cells {
		name := string(c.Column[1:])
		v, err := t.decodeValue(ctx, row, name, c)
		if err != nil {
			return nil, err
		}
		if v.Exists {
			cols = append(cols, Version{Name: name, Value: v})
		}
	}
	return cols, nil
}

// decodeValue turns the write record of a column into its value; a deleted column
// has none.
func (t *Txn) decodeValue(ctx context.Context, row, name string, c store.Cell) (Value, error) {
	v, start, err := decodeCell(c)
	if err != nil || !v.apart {
		return v, err
	}
	v.Data, err = t.readData(ctx, row, Column{c.Group, name}, start)
	return v, err
}

// decodeCell decodes a write record. If the value is apart, it lies in the data cell at start.
func decodeCell(c store.Cell) (v Value, start uint64, err error) {
	w, err := decodeWrite(c.Value)
	switch {
	case err != nil:
		return Value{}, 0, fmt.Errorf("row %q column %s at %d: %w", c.Row, c.Group, c.TS, err)
	case w.op == opDelete:
		return Value{}, 0, nil
	case w.op != opPut:
		return Value{}, 0, fmt.Errorf("row %q column %s at %d: operation %d: %w", c.Row, c.Group, c.TS, w.op, store.ErrCorrupt)
	case w.inline:
		return Value{Data: w.value, TS: c.TS, Exists: true}, 0, nil
	}
	return Value{TS: c.TS, Exists: true, apart: true}, w.start, nil
}

// readData fetches the value that a write record points to.
func (t *Txn) readData(ctx context.Context, row string, c Column, start uint64) ([]byte, error) {
	cells, err := t.reader().Read(ctx, []byte(row),
		store.Selector{Group: c.Group, Column: recordColumn(kindData, c.Name), MinTS: start, MaxTS: start})
	if err != nil {
		return nil, err
	}
	if len(cells) == 0 {
		return nil, missingData(Cell{row, c}, start)
	}
	return cells[0].Value, nil
}

func missingData(c Cell, start uint64) error {
	return fmt.Errorf("%s: the write record points to missing data at %d: %w", c, start, store.ErrCorrupt)
}
