package txn

import (
	"slices"
	"sync"

	"github.com/webindexer/indexer/store"
)

// batch collects the guards and mutations of a one-phase commit, by row. The caller may
// release it once the store has applied it.
func (t *Txn) batch() *batch {
	read := t.onlyRead()
	b := newBatch(t, read)
	for _, tr := range t.triggers {
		m := b.rows.at(tr.Cell.Row)
		column := b.observerColumn(tr.Cell.Column, tr.Observer)
		b.mutate(m, store.Mutation{Op: store.DeleteUpTo, Group: notifyGroup, Column: column, TS: t.start})
		if tr.Strong {
			m.Absent = append(m.Absent, unlocked(tr.Cell.Column), store.Selector{Group: ackGroup, Column: column, MinTS: tr.TS})
			m.Mutations = append(m.Mutations, store.Mutation{Op: store.Put, Group: ackGroup, Column: column, TS: t.start})
		}
	}
	for _, w := range t.writes.order {
		m := b.rows.at(w.cell.Row)
		b.guard(m, w.cell.Column)
		b.mutate(m, store.Mutation{
			Op: store.Put, Group: w.cell.Group, Column: b.names.write, TS: store.AtCommit, Value: b.record(w),
		})
	}
	for _, w := range read {
		m := b.rows.at(w.cell.Row)
		b.guard(m, w.cell.Column)
		m.Mutations = append(m.Mutations, readForUpdate(w.cell.Column, store.AtCommit))
	}
	for _, n := range t.notes {
		m := b.rows.at(n.cell.Row)
		b.mutate(m, store.Mutation{Op: store.Put, Group: notifyGroup, Column: b.observerColumn(n.cell.Column, n.observer), TS: store.AtCommit})
	}
	return b
}

// batch is what a one-phase commit hands to the store. A transaction of an observer often
// writes one cell in each of hundreds of rows. So the lists of all rows share one block,
// and so do all write records. The store keeps none of them, so the blocks serve further
// transactions (release).
type batch struct {
	t         *Txn
	rows      rowSet
	guards    []store.Selector // block for the lists of guards
	mutations []store.Mutation // block for the lists of mutations
	records   []byte           // block for the write records
	names     names            // of the last column; the next cell usually has the same one
	observer  observerNames    // likewise
}

// names are the store's columns that belong to a column.
type names struct {
	column      Column
	write, side []byte
}

// observerNames is the store's column that belongs to an observer of a column.
type observerNames struct {
	column   Column
	observer string
	name     []byte
}

func newBatch(t *Txn, read []*write) *batch {
	writes, size := len(t.writes.order), 0
	cells := len(t.triggers) + writes + len(t.notes)
	for _, w := range t.writes.order {
		size += recordHead + len(w.value)
	}
	b := batches.Get().(*batch)
	b.t = t
	b.rows.room = cells
	b.rows.list = slices.Grow(b.rows.list, max(cells, 1))
	b.guards = slices.Grow(b.guards, guardsOfWrite*(writes+len(read)))
	b.mutations = slices.Grow(b.mutations, cells)
	b.records = slices.Grow(b.records, size)
	return b
}

var batches = sync.Pool{New: func() any { return new(batch) }}

// maxKeptRecords is the size in bytes of the largest block of records that release keeps, so
// that one large page does not hold its memory for ever.
const maxKeptRecords = 1 << 20

// release keeps the blocks for another transaction. It must be called only if the store has
// said that it applied the batch: a store that could not say so may still be reading it.
func (b *batch) release() {
	if cap(b.records) > maxKeptRecords {
		return
	}
	clear(b.rows.list)
	clear(b.rows.index)
	clear(b.guards)
	clear(b.mutations)
	*b = batch{
		rows:   rowSet{list: b.rows.list[:0], index: b.rows.index},
		guards: b.guards[:0], mutations: b.mutations[:0], records: b.records[:0],
	}
	batches.Put(b)
}

// guardsOfWrite is how many guards a written cell has.
const guardsOfWrite = 3

// guard adds the guards of a written cell. They hold if no transaction committed a write to
// the column, or read it for update, after our start, and none holds a lock on it.
func (b *batch) guard(m *store.RowMutation, c Column) {
	if b.names.write == nil || b.names.column != c {
		b.names = names{column: c, write: recordColumn(kindWrite, c.Name), side: sideColumn(c)}
	}
	unwritten := store.Selector{Group: c.Group, Column: b.names.write, MinTS: b.t.start}
	lock := store.Selector{Group: lockGroup, Column: b.names.side}
	if m.Absent != nil {
		m.Absent = append(m.Absent, unwritten, lock, b.t.unread(b.names.side))
		return
	}
	from := len(b.guards)
	b.guards = append(b.guards, unwritten, lock, b.t.unread(b.names.side))
	m.Absent = b.guards[from:len(b.guards):len(b.guards)]
}

// observerColumn returns what the function observerColumn returns. It keeps the last result
// for the rows that follow.
func (b *batch) observerColumn(c Column, observer string) []byte {
	if o := &b.observer; o.name == nil || o.column != c || o.observer != observer {
		*o = observerNames{c, observer, observerColumn(c, observer)}
	}
	return b.observer.name
}

// mutate adds a mutation to a row.
func (b *batch) mutate(m *store.RowMutation, mut store.Mutation) {
	if m.Mutations != nil {
		m.Mutations = append(m.Mutations, mut)
		return
	}
	from := len(b.mutations)
	b.mutations = append(b.mutations, mut)
	m.Mutations = b.mutations[from:len(b.mutations):len(b.mutations)]
}

// record encodes the write record of a cell, with its value inside.
func (b *batch) record(w *write) []byte {
	from := len(b.records)
	b.records = writeRecord{op: w.op, start: b.t.start, inline: w.op == opPut, value: w.value}.append(b.records)
	return b.records[from:len(b.records):len(b.records)]
}

// rowSet builds row mutations, one for each row, in the order of first use.
type rowSet struct {
	list  []store.RowMutation
	index map[string]int // made for the second row
	room  int            // how many rows to expect at most
}

// at returns the row's mutation; the pointer is valid until the next call.
func (s *rowSet) at(row string) *store.RowMutation {
	if n := len(s.list); n > 0 && string(s.list[n-1].Row) == row {
		return &s.list[n-1]
	}
	i, ok := s.index[row]
	if !ok {
		i = len(s.list)
		if s.index == nil && i == 1 {
			s.index = make(map[string]int, s.room)
		}
		if i == 1 {
			s.index[string(s.list[0].Row)] = 0
		}
		if i > 0 {
			s.index[row] = i
		}
		s.list = append(s.list, store.RowMutation{Row: []byte(row)})
	}
	return &s.list[i]
}
