package txn

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/webindexer/indexer/store"
)

// gcRecord is one record of a column, without the value.
type gcRecord struct {
	kind  byte
	ts    uint64
	start uint64 // of a write record
	op    op     // of a write record
}

func readRecord(c store.Cell) (name string, r gcRecord, err error) {
	if len(c.Column) == 0 {
		return "", r, fmt.Errorf("row %q has a column without a kind in %s: %w", c.Row, c.Group, store.ErrCorrupt)
	}
	r = gcRecord{kind: c.Column[0], ts: c.TS}
	name = string(c.Column[1:])
	switch r.kind {
	case kindData, kindRollback, kindLockOnly:
	case kindWrite:
		w, err := decodeWrite(c.Value)
		if err != nil {
			return "", r, fmt.Errorf("%s at %d: %w", Cell{string(c.Row), Column{c.Group, name}}, c.TS, err)
		}
		r.start, r.op = w.start, w.op
	default:
		return "", r, fmt.Errorf("row %q has a column of the kind %q in %s: %w", c.Row, r.kind, c.Group, store.ErrCorrupt)
	}
	return name, r, nil
}

// garbageOf selects, among all records of one column, those to remove when the safe point
// is p, in an order in which they may be removed one by one. later reports whether there is more
// to remove once the safe point has passed all records. Locks below p have been resolved.
func garbageOf(records []gcRecord, p uint64) (dead []gcRecord, later bool) {
	var (
		newest *gcRecord // write at or below p
		writes []gcRecord
		data   = make(map[uint64]gcRecord) // by start; data below p to which no kept write points
	)
	for i, r := range records {
		switch {
		case r.kind == kindData && r.ts < p:
			data[r.ts] = r
		case r.kind == kindWrite && r.ts <= p && (newest == nil || r.ts > newest.ts):
			newest = &records[i]
		case r.kind == kindRollback && r.ts >= p, r.kind != kindData && r.ts > p:
			later = true
		}
	}
	for _, r := range records {
		if r.kind != kindWrite {
			continue
		}
		if r.ts <= p && r.ts < newest.ts {
			writes = append(writes, r)
		} else {
			delete(data, r.start)
		}
	}
	slices.SortFunc(writes, func(a, b gcRecord) int { return cmp.Compare(a.ts, b.ts) })
	for _, w := range writes {
		dead = append(dead, w)
		if d, ok := data[w.start]; ok { // with its write, so that one atomic step takes both
			dead = append(dead, d)
			delete(data, w.start)
		}
	}
	for _, r := range records {
		_, orphan := data[r.ts]
		switch {
		case r.kind == kindData && orphan, r.kind == kindRollback && r.ts < p, r.kind == kindLockOnly && r.ts <= p:
			dead = append(dead, r)
		}
	}
	if newest != nil && newest.op == opDelete {
		dead = append(dead, *newest) // last: it hides the older ones
	}
	return dead, later
}

// maxDeletes bounds how many records one atomic step removes.
const maxDeletes = 1000

// removals turns garbage into mutations, in order, each of bounded size, and counts them.
func (c *Collected) removals(cell Cell, dead []gcRecord) (rows []store.RowMutation) {
	for i, r := range dead {
		if i%maxDeletes == 0 {
			rows = append(rows, store.RowMutation{Row: []byte(cell.Row)})
		}
		m := &rows[len(rows)-1]
		m.Mutations = append(m.Mutations, store.Mutation{Op: store.Delete, Group: cell.Group, Column: recordColumn(r.kind, cell.Name), TS: r.ts})
		switch {
		case r.kind == kindWrite && r.op == opDelete:
			c.Deletions++
		case r.kind == kindWrite:
			c.Versions++
		case r.kind == kindRollback:
			c.Rollbacks++
		case r.kind == kindLockOnly:
			c.LockOnly++
		}
	}
	return rows
}

// collectCell adds the mutations that collect one cell.
func (db *DB) collectCell(ctx context.Context, cell Cell, got *Collected) (rows []store.RowMutation, later bool, err error) {
	sel := []store.Selector{{Group: readGroup, Column: sideColumn(cell.Column)}}
	for _, kind := range []byte{kindData, kindLockOnly, kindRollback, kindWrite} {
		sel = append(sel, store.Selector{Group: cell.Group, Column: recordColumn(kind, cell.Name)})
	}
	cells, err := db.table.Read(ctx, []byte(cell.Row), sel...)
	if err != nil {
		return nil, false, err
	}
	records, readLater := make([]gcRecord, 0, len(cells)), false
	for _, c := range cells {
		if c.Group == readGroup {
			if readLater = c.TS > got.SafePoint; !readLater {
				got.Reads++
				rows = append(rows, removeRead(c))
			}
			continue
		}
		_, r, err := readRecord(c)
		if err != nil {
			return nil, false, err
		}
		records = append(records, r)
	}
	dead, later := garbageOf(records, got.SafePoint)
	got.Cells++
	return append(rows, got.removals(cell, dead)...), later || readLater, nil
}
