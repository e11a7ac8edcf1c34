package txn

import "sync"

// writeSet holds the cells that a transaction writes, or has read for update. Most
// transactions write a few cells, for which a list is smaller and faster than a map.
type writeSet struct {
	order []*write // in the order they were first written
	many  map[Cell]*write
	room  [2]*write // of order, to begin with
	block []write   // where further writes go
}

// get returns the write to a cell, or nil.
func (s *writeSet) get(c Cell) *write {
	if s.many != nil {
		return s.many[c]
	}
	for _, w := range s.order {
		if w.cell == c {
			return w
		}
	}
	return nil
}

// add adds a write to a cell that is not in the set yet.
func (s *writeSet) add(w write) {
	if s.order == nil {
		s.order = s.room[:0]
	}
	if len(s.block) == cap(s.block) {
		s.block = make([]write, 0, min(max(len(s.order), 2), maxWriteBlock)) // writes point into the old block, so it stays
	}
	s.block = append(s.block, w)
	p := &s.block[len(s.block)-1]
	s.order = append(s.order, p)
	if s.many != nil {
		s.many[w.cell] = p
		return
	}
	if len(s.order) > fewCells {
		s.many = writeMaps.Get().(map[Cell]*write)
		for _, w := range s.order {
			s.many[w.cell] = w
		}
	}
}

// maxWriteBlock is the maximum number of writes for which add makes room at a time.
const maxWriteBlock = 64

// writeMaps are empty maps that have room for the cells of a usual transaction.
var writeMaps = sync.Pool{New: func() any { return make(map[Cell]*write, 2*fewCells) }}

// maxKeptWrites is the size of the largest map that release keeps. Clearing a map takes as
// long as it once was large.
const maxKeptWrites = 1024

// release gives the map back. The writes stay, in order.
func (s *writeSet) release() {
	if s.many != nil && len(s.many) <= maxKeptWrites {
		clear(s.many)
		writeMaps.Put(s.many)
	}
	s.many = nil
}

// bytes is the size of all values.
func (s *writeSet) bytes() int {
	n := 0
	for _, w := range s.order {
		n += len(w.value)
	}
	return n
}
