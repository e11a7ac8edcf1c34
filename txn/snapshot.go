package txn

import (
	"context"
	"fmt"

	"indexer/store"
)

// Value is a value read, with the commit timestamp of the transaction that
// wrote it; TS is 0 for the transaction's own writes.
type Value struct {
	Data   []byte
	TS     uint64
	Exists bool
}

// Version is one column of a row with its value.
type Version struct {
	Name string
	Value
}

// Get reads a cell as of the start timestamp: the value of the newest write
// below it. If the cell holds a lock from below it, that transaction may have
// committed below it too; Get resolves or awaits the lock first (paper, Figure
// 6, lines 8 to 25). The value must not be changed.
func (t *Txn) Get(ctx context.Context, row string, c Column) (Value, error) {
	if err := t.readable(); err != nil {
		return Value{}, err
	}
	cell := Cell{row, c}
	if w, ok := t.writes[cell]; ok {
		return Value{Data: w.value, Exists: w.op == opPut}, nil
	}
	if v, ok := t.cells.get(cell); ok {
		return v, nil
	}
	if cols, ok := t.rows[rowGroup{row, c.Group}]; ok {
		return findColumn(cols, c.Name), nil
	}
	cols, err := t.readRow(ctx, row, c.Group, c.Name, false)
	if err != nil {
		return Value{}, fmt.Errorf("txn: get %s: %w", cell, err)
	}
	v := findColumn(cols, c.Name)
	t.cells.put(cell, v)
	return v, nil
}

// GetRow reads all columns a row has in one group, in one look-up, by name.
// Later Gets of that row and group are answered from memory.
func (t *Txn) GetRow(ctx context.Context, row, group string) ([]Version, error) {
	if err := t.readable(); err != nil {
		return nil, err
	}
	key := rowGroup{row, group}
	cols, ok := t.rows[key]
	if !ok {
		var err error
		if cols, err = t.readRow(ctx, row, group, "", true); err != nil {
			return nil, fmt.Errorf("txn: get row %q %s: %w", row, group, err)
		}
		if t.rows == nil {
			t.rows = make(map[rowGroup][]Version)
		}
		t.rows[key] = cols
	}
	return t.overlayRow(row, group, cols), nil
}

func findColumn(cols []Version, name string) Value {
	for _, c := range cols {
		if c.Name == name {
			return c.Value
		}
	}
	return Value{}
}

// reader is where this transaction reads. It must be called after the start
// timestamp was taken: see the proof in oracle.go.
func (t *Txn) reader() store.Reader {
	if t.db.snapshots == nil {
		return t.db.table
	}
	if t.snap == nil {
		t.snap = t.db.snapshots.Snapshot()
	}
	return t.snap
}

// readRow reads one column, or with all the whole row, of a group.
func (t *Txn) readRow(ctx context.Context, row, group, name string, all bool) ([]Version, error) {
	lockColumn := sideColumn(Column{group, name})
	for wait := (backoff{}); ; {
		cells, err := t.reader().Read(ctx, []byte(row),
			store.Selector{Group: lockGroup, Column: lockColumn, Prefix: all, MaxTS: t.start},
			store.Selector{Group: group, Column: recordColumn(kindWrite, name), Prefix: all, MaxTS: t.start, Newest: 1},
		)
		if err != nil {
			return nil, err
		}
		locks := 0
		for locks < len(cells) && cells[locks].Group == lockGroup {
			locks++
		}
		if locks == 0 {
			return t.decodeRow(ctx, row, cells)
		}
		if err := t.meetLocks(ctx, cells[:locks], &wait); err != nil {
			return nil, err
		}
	}
}

// meetLocks resolves the locks it can and waits a moment for the others. After
// it the caller reads again, from a snapshot that is taken anew: the old one
// would show the locks for ever.
func (t *Txn) meetLocks(ctx context.Context, locks []store.Cell, wait *backoff) error {
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

// decodeRow turns write records into values, fetching those that are not inline.
func (t *Txn) decodeRow(ctx context.Context, row string, cells []store.Cell) ([]Version, error) {
	cols := make([]Version, 0, len(cells))
	for _, c := range cells {
		v, err := t.decodeValue(ctx, row, c)
		if err != nil {
			return nil, err
		}
		if v.Exists {
			cols = append(cols, v)
		}
	}
	return cols, nil
}

func (t *Txn) decodeValue(ctx context.Context, row string, c store.Cell) (Version, error) {
	w, err := decodeWrite(c.Value)
	if err != nil {
		return Version{}, fmt.Errorf("row %q column %s at %d: %w", row, c.Group, c.TS, err)
	}
	v := Version{Name: string(c.Column[1:]), Value: Value{TS: c.TS}}
	switch {
	case w.op == opDelete:
	case w.op != opPut:
		return Version{}, fmt.Errorf("row %q column %s at %d: operation %d: %w", row, c.Group, c.TS, w.op, store.ErrCorrupt)
	case w.inline:
		v.Data, v.Exists = w.value, true
	default:
		v.Data, err = t.readData(ctx, row, Column{c.Group, v.Name}, w.start)
		v.Exists = true
	}
	return v, err
}

// readData fetches the value that a write record points to.
func (t *Txn) readData(ctx context.Context, row string, c Column, start uint64) ([]byte, error) {
	cells, err := t.reader().Read(ctx, []byte(row),
		store.Selector{Group: c.Group, Column: recordColumn(kindData, c.Name), MinTS: start, MaxTS: start})
	if err != nil {
		return nil, err
	}
	if len(cells) == 0 {
		return nil, fmt.Errorf("%s: the write record points to data at %d, which is not there: %w", Cell{row, c}, start, store.ErrCorrupt)
	}
	return cells[0].Value, nil
}
