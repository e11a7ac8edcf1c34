package txn

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/webindexer/indexer/store"
)

// gcQueue holds the cells that may have garbage, roughly in the order of their first records.
//
// A transaction that has read a cell knows which version its write replaces. The queue
// records that version, and the collector removes it without reading the cell. After a
// blind write, a deletion, or a write whose old value is in a separate data cell,
// the older versions are unknown. The collector then has to visit the cell.
//
// A waiting cell takes one place, however often it is written. The collector visits it when the
// safe point has passed the first of its records, and queues it again if there are later ones. So
// a cell that is written ten thousand times a second is visited once per step.
//
// The queue is bounded. Only a sweep of the table finds the cells that did not fit.
type gcQueue struct {
	on atomic.Bool // a collector runs

	mu       sync.Mutex
	entries  []*gcEntry // from first on
	first    int
	waiting  map[Cell]*gcEntry
	overflow bool
}

// gcEntry is a waiting cell.
type gcEntry struct {
	cell Cell
	ts   uint64     // of the first record
	look bool       // the old versions are unknown
	old  []replaced // the known old versions, unless look is set
}

// replaced is an old version and the version that replaced it.
type replaced struct{ ts, by uint64 }

const (
	// gcQueueCells bounds the queue: about 16 MB.
	gcQueueCells = 1 << 16
	// gcOldVersions bounds the known versions of a cell. A visit finds the rest.
	gcOldVersions = 32
)

// add records that a cell got a record at ts, and that the collector has to visit it.
func (q *gcQueue) add(c Cell, ts uint64) {
	q.note(c, ts, func(e *gcEntry) { e.look, e.old = true, nil })
}

// addOld records which version of a cell a write has replaced.
func (q *gcQueue) addOld(c Cell, old replaced) {
	q.note(c, old.by, func(e *gcEntry) {
		switch {
		case e.look:
		case len(e.old) >= gcOldVersions:
			e.look, e.old = true, nil
		default:
			e.old = append(e.old, old)
		}
	})
}

// note changes the entry of a cell, or adds one.
func (q *gcQueue) note(c Cell, ts uint64, change func(*gcEntry)) {
	if !q.on.Load() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.waiting[c]
	if e == nil {
		if len(q.waiting) >= gcQueueCells {
			q.overflow = true
			return
		}
		if q.waiting == nil {
			q.waiting = make(map[Cell]*gcEntry)
		}
		e = &gcEntry{cell: c, ts: ts}
		q.waiting[c] = e
		q.entries = append(q.entries, e)
	}
	change(e)
}

// take returns up to n cells whose first records the safe point has passed.
func (q *gcQueue) take(p uint64, n int) (taken []*gcEntry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(taken) < n && q.first < len(q.entries) && q.entries[q.first].ts <= p {
		e := q.entries[q.first]
		q.entries[q.first] = nil
		q.first++
		delete(q.waiting, e.cell)
		taken = append(taken, e)
	}
	if q.first > len(q.entries)/2 {
		n := copy(q.entries, q.entries[q.first:])
		clear(q.entries[n:])
		q.entries, q.first = q.entries[:n], 0
	}
	return taken
}

// size is the number of waiting cells.
func (q *gcQueue) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// takeOverflow reports whether cells did not fit, and resets the mark.
func (q *gcQueue) takeOverflow() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	over := q.overflow
	q.overflow = false
	return over
}

// queueGarbage queues the cells of a transaction that committed.
//
// It runs before the transaction ends, so until then the safe point stays below its
// start. So when the safe point has passed a write, every version below that write has
// been recorded, whatever the order in which commits call this function.
func (t *Txn) queueGarbage(commit uint64) {
	q := &t.db.gc.queue
	if !q.on.Load() {
		return
	}
	for _, w := range t.writes.order {
		old, known := t.replaces(w)
		switch {
		case !known:
			q.add(w.cell, commit)
		case old != 0:
			q.addOld(w.cell, replaced{old, commit})
		}
	}
	for _, w := range t.onlyRead() {
		q.add(w.cell, commit)
	}
	if t.lockOnly != nil {
		q.add(t.lockOnly.cell, commit)
	}
}

// replaces returns the timestamp of the only record that a write turns into garbage, 0 if
// there is none, or false if that is unknown. A deletion itself becomes garbage once
// everything below it is gone, so the collector has to visit the cell.
func (t *Txn) replaces(w *write) (old uint64, known bool) {
	if w.op != opPut {
		return 0, false
	}
	if w.created {
		return 0, true
	}
	v, ok := t.cells.get(w.cell)
	if !ok {
		cols, found := t.rows[rowGroup{w.cell.Row, w.cell.Group}]
		if !found {
			return 0, false
		}
		v = findColumn(cols, w.cell.Name)
	}
	return v.TS, !v.apart
}

// removals returns the mutations that remove the known garbage at a safe point,
// and the versions to remove later.
func (e *gcEntry) removals(p uint64) (row store.RowMutation, later []replaced) {
	slices.SortFunc(e.old, func(a, b replaced) int { return cmp.Compare(a.ts, b.ts) })
	row.Row = []byte(e.cell.Row)
	for _, v := range e.old {
		if v.by > p {
			later = append(later, v)
			continue
		}
		row.Mutations = append(row.Mutations, store.Mutation{
			Op: store.Delete, Group: e.cell.Group, Column: recordColumn(kindWrite, e.cell.Name), TS: v.ts,
		})
	}
	return row, later
}
