package badgerdb

import "bytes"

// latestCells holds what a group of writes has done to the columns of Latest groups so
// far. A request may change such a column twice: an observer that notifies itself removes
// its notification and sends another one.
//
// The next group reuses the memory. Heads are in the planner's buffer, which lives as
// long as the group.
type latestCells struct {
	first map[uint64]int32 // by hash of column, into cells
	cells []latestCell
}

// latestCell is the cell that a column has now.
type latestCell struct {
	head  []byte
	ts    uint64
	found bool
	next  int32 // the next column with this hash, 0 for none: cells[0] is never a next one
}

// reset begins a group.
func (l *latestCells) reset() {
	if len(l.cells) > keptBufferLen {
		*l = latestCells{}
		return
	}
	clear(l.first)
	clear(l.cells)
	l.cells = l.cells[:0]
}

// of returns the cell of a column that this group has changed, or nil. It is valid until the
// next put.
func (l *latestCells) of(column uint64, head []byte) *latestCell {
	i, ok := l.first[column]
	for ok {
		c := &l.cells[i]
		if bytes.Equal(c.head, head) {
			return c
		}
		i, ok = c.next, c.next > 0
	}
	return nil
}

func (l *latestCells) put(column uint64, head []byte, ts uint64, found bool) {
	if c := l.of(column, head); c != nil {
		c.ts, c.found = ts, found
		return
	}
	if l.first == nil {
		l.first = make(map[uint64]int32)
	}
	at := int32(len(l.cells))
	c := latestCell{head: head, ts: ts, found: found}
	if first, ok := l.first[column]; ok { // two columns with one hash: the new one comes second
		c.next = l.cells[first].next
		l.cells[first].next = at
	} else {
		l.first[column] = at
	}
	l.cells = append(l.cells, c)
}
