package txn

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/store"
)

// readsAhead is how many look-ups ReadAhead makes concurrently. Engines combine concurrent
// look-ups into one request, or into one for each connection.
const readsAhead = 64

// Ahead names cells to read ahead: these columns of each of these rows.
type Ahead struct {
	Rows    []string
	Columns []Column
}

// ReadAhead reads many cells at a time, for a transaction that is going to read them one
// after the other. On a table that several processes share, each look-up takes milliseconds, most
// of which is waiting. On a table that only this process uses, ReadAhead does nothing, because a
// look-up costs little more than caching its result.
//
// The next [Txn.Get], [Txn.GetOnce] or [Txn.Prefetch] of such a cell is answered from memory. The
// next ReadAhead drops the cells that were not read. Until then they take memory, so the caller
// must bound the rows.
func (t *Txn) ReadAhead(ctx context.Context, list ...Ahead) error {
	if t.db.shared == nil {
		return nil
	}
	if err := t.readable(); err != nil {
		return err
	}
	if err := t.admit(ctx); err != nil {
		return err
	}
	t.instant() // the look-ups share the snapshot
	found := make([][][]Value, len(list))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readsAhead)
	for k, a := range list {
		found[k] = make([][]Value, len(a.Rows))
		for i, row := range a.Rows {
			g.Go(func() (err error) {
				if found[k][i], err = t.lookUp(ctx, row, a.Columns); err != nil {
					return fmt.Errorf("txn: read row %q ahead: %w", row, err)
				}
				return nil
			})
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	t.ahead = make(map[Cell]Value)
	for k, a := range list {
		for i, values := range found[k] {
			for j, v := range values {
				t.ahead[Cell{a.Rows[i], a.Columns[j]}] = v
			}
		}
	}
	return nil
}

// lookUp reads columns of a row. Several goroutines may call it, so it resolves no locks: it
// returns nothing for a row that has some, and the later read of that row resolves them.
func (t *Txn) lookUp(ctx context.Context, row string, columns []Column) ([]Value, error) {
	cells, err := t.reader().Read(ctx, []byte(row), t.selectors(columns)...)
	if err != nil || len(cells) > 0 && cells[0].Group == lockGroup {
		return nil, err
	}
	return t.valuesOf(ctx, row, columns, cells)
}

// takeAhead moves the cells of a row that were read ahead to the transaction's read cache. It
// reports whether they include all of the columns.
func (t *Txn) takeAhead(row string, columns []Column) bool {
	if len(t.ahead) == 0 {
		return false
	}
	all := true
	for _, c := range columns {
		cell := Cell{row, c}
		if _, known := t.cells.get(cell); known {
			continue
		}
		v, ok := t.ahead[cell]
		if !ok {
			all = false
			continue
		}
		delete(t.ahead, cell)
		t.cells.put(cell, v)
	}
	return all
}

// valuesOf returns the values of columns of a row; cells are their newest write records.
func (t *Txn) valuesOf(ctx context.Context, row string, columns []Column, cells []store.Cell) ([]Value, error) {
	values := make([]Value, len(columns))
	for k, c := range columns {
		for i := range cells {
			if cells[i].Group != c.Group || string(cells[i].Column[1:]) != c.Name {
				continue
			}
			var err error
			if values[k], err = t.decodeValue(ctx, row, c.Name, cells[i]); err != nil {
				return nil, err
			}
		}
	}
	return values, nil
}

// ScanAhead is ReadAhead for the rows of a group that begin with any of these prefixes. The next
// [Txn.ScanPrefix] of such a prefix is answered from memory, until the next ScanAhead. It returns
// the rows that it has read. It leaves out a prefix with locks, which a scan has to resolve, and
// one with more rows than fit into one page of a scan.
func (t *Txn) ScanAhead(ctx context.Context, group string, prefixes []string) (rows []string, err error) {
	if t.db.shared == nil {
		return nil, nil
	}
	if err := t.readable(); err != nil {
		return nil, err
	}
	if err := t.admit(ctx); err != nil {
		return nil, err
	}
	t.instant()
	found := make([]*scanAhead, len(prefixes))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readsAhead)
	for i, prefix := range prefixes {
		g.Go(func() (err error) {
			if found[i], err = t.scanOnce(ctx, group, prefix, PrefixEnd(prefix)); err != nil {
				return fmt.Errorf("txn: scan %s from %q ahead: %w", group, prefix, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	t.scansAhead = make(map[string]*scanAhead)
	for i, s := range found {
		if s == nil {
			continue
		}
		t.scansAhead[prefixes[i]] = s
		for _, r := range s.rows {
			rows = append(rows, r.row)
		}
	}
	return rows, nil
}

// scanAhead is a range with all its rows.
type scanAhead struct {
	group, end string
	rows       []scannedRow
}

// scanOnce reads a range that one page holds. It returns nil if there is more, or a lock. Like
// lookUp, several goroutines may call it.
func (t *Txn) scanOnce(ctx context.Context, group, start, end string) (*scanAhead, error) {
	locks, err := t.locksIn(ctx, group, start, end) // before the rows: see clearLocks
	if err != nil || len(locks) > 0 {
		return nil, err
	}
	rows, next, err := t.scanPage(ctx, group, []byte(start), bound(end))
	if err != nil || next != nil {
		return nil, err
	}
	return &scanAhead{group, end, rows}, nil
}

// scannedAhead returns the rows of a range that was read ahead, and forgets them.
func (t *Txn) scannedAhead(group, start, end string) (rows []scannedRow, ok bool) {
	s := t.scansAhead[start]
	if s == nil || s.group != group || s.end != end {
		return nil, false
	}
	delete(t.scansAhead, start)
	return s.rows, true
}
