package txn

import (
	"sync"
	"sync/atomic"
)

// gcQueue holds the cells that were written and may have old versions, oldest
// write first. It is bounded: with more, those that come are not noted, and only a
// sweep of the table finds what they leave.
//
// A cell that waits is not noted again. It is looked at when the safe point has
// passed the first of its writes, and noted anew if there are later ones. So a cell
// that is written ten thousand times a second is looked at once a step.
type gcQueue struct {
	on atomic.Bool // somebody collects

	mu       sync.Mutex
	entries  []gcEntry // from first on
	first    int
	waiting  map[Cell]struct{}
	overflow bool
}

type gcEntry struct {
	cell Cell
	ts   uint64
}

// gcQueueCells bounds the queue: about 16 MB.
const gcQueueCells = 1 << 16

// add notes that a cell got a record at ts.
func (q *gcQueue) add(c Cell, ts uint64) {
	if !q.on.Load() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.waiting[c]; ok {
		return
	}
	if len(q.waiting) >= gcQueueCells {
		q.overflow = true
		return
	}
	if q.waiting == nil {
		q.waiting = make(map[Cell]struct{})
	}
	q.waiting[c] = struct{}{}
	q.entries = append(q.entries, gcEntry{c, ts})
}

// take returns up to n cells whose writes the safe point has passed.
func (q *gcQueue) take(p uint64, n int) (cells []Cell) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(cells) < n && q.first < len(q.entries) && q.entries[q.first].ts <= p {
		c := q.entries[q.first].cell
		q.entries[q.first] = gcEntry{}
		q.first++
		delete(q.waiting, c)
		cells = append(cells, c)
	}
	if q.first > len(q.entries)/2 {
		q.entries = append(q.entries[:0], q.entries[q.first:]...)
		q.first = 0
	}
	return cells
}

// size is how many cells wait, and the timestamp of the first; 0 for none.
func (q *gcQueue) size() (n int, oldest uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.first < len(q.entries) {
		oldest = q.entries[q.first].ts
	}
	return len(q.waiting), oldest
}

// takeOverflow reports whether cells were left out, and forgets it.
func (q *gcQueue) takeOverflow() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	over := q.overflow
	q.overflow = false
	return over
}

// leavesGarbage notes the cells of a transaction that committed. A cell that the
// transaction found empty, and put a value into, has nothing below it.
func (t *Txn) leavesGarbage(commit uint64) {
	q := &t.db.gc.queue
	if !q.on.Load() {
		return
	}
	for _, w := range t.writes.order {
		if w.op != opPut || !t.foundEmpty(w.cell) {
			q.add(w.cell, commit)
		}
	}
	for _, w := range t.onlyRead() {
		q.add(w.cell, commit)
	}
	if t.lockOnly != nil {
		q.add(t.lockOnly.cell, commit)
	}
}

// foundEmpty reports whether the transaction has read a cell, and found nothing.
func (t *Txn) foundEmpty(c Cell) bool {
	if v, ok := t.cells.get(c); ok {
		return !v.Exists
	}
	cols, ok := t.rows[rowGroup{c.Row, c.Group}]
	return ok && !findColumn(cols, c.Name).Exists
}
