// Package newest keeps an upper bound of the newest timestamp of every column, in a table of a
// fixed size without keys. A column has the slot that its hash leads to, and shares it with all
// other columns whose hashes lead there. (Omid, ICDE 2014, keeps the commit timestamps of
// rows in the same way.)
//
// Invariant, for every column of every row, at any time: each timestamp that was put into
// the column since the table was opened is below its slot, and each one that was put
// earlier is at most the floor of its group.
//
// So a guard for cells from MinTS on finds nothing if the bound is below MinTS, and the
// engine need not read. A bound that is too high (after a delete, or where two columns share a
// slot) costs a read and nothing else. That is rare: a guard asks for cells after the start
// of a transaction, so only a neighbour that was written during the transaction disturbs it.
//
// Readers ask whether a column was never written at all. In a table that was empty when it
// was opened, an empty slot says so. A reader may trust it: the committer notes a timestamp
// before it publishes the view in which the cell can first be seen.
//
// Rejected: a map with exact bounds and two generations. Each guard of a new column, which
// is the usual one, looked it up in both, and most look-ups missed the processor's cache
// several times. The maps took four times the processor time of this table.
package newest

import "sync/atomic"

// Table is the bounds of all columns.
type Table struct {
	slots []atomic.Uint64 // the bound plus one; 0 if nothing was put. Written under the committer's writeMu
	floor []uint64        // by number of group
	fresh bool            // nothing was put before the table was opened
}

// slotsPerCell is how many slots the table has for each cell that it is to remember.
const slotsPerCell = 4

// New makes a table for a number of cells. floor bounds the timestamps of each group, by its
// number, that were put earlier; fresh says that there are none. The caller must not change floor.
func New(cells int, floor []uint64, fresh bool) *Table {
	n := 1
	for n < slotsPerCell*cells {
		n *= 2
	}
	return &Table{slots: make([]atomic.Uint64, n), floor: floor, fresh: fresh}
}

func (n *Table) slot(column uint64) *atomic.Uint64 {
	return &n.slots[column&uint64(len(n.slots)-1)]
}

// Of returns the bound of a column in group number g.
func (n *Table) Of(g int, column uint64) uint64 {
	if s := n.slot(column).Load(); s > 0 {
		return max(n.floor[g], s-1)
	}
	return n.floor[g]
}

// None reports whether the column certainly has no cell at lo or above.
func (n *Table) None(g int, column, lo uint64) bool {
	return n.Of(g, column) < lo || n.Never(column)
}

// Never reports whether it is certain that nothing was ever put into a column.
func (n *Table) Never(column uint64) bool {
	return n.fresh && n.slot(column).Load() == 0
}

// Note records a put, and returns the column's bound.
func (n *Table) Note(g int, column, ts uint64) uint64 {
	s := n.slot(column)
	if s.Load() <= ts {
		s.Store(ts + 1) // no overflow: timestamps are at most store.MaxTS
	}
	return max(n.floor[g], s.Load()-1)
}
