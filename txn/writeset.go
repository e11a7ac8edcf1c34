package txn

// writeSet holds the cells that a transaction writes, or has read for update. Most
// transactions write a few cells, for which a list is smaller and faster than a map.
type writeSet struct {
	order []*write // in the order they were first written
	many  map[Cell]*write
	room  [2]*write // of order, to begin with
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
func (s *writeSet) add(w *write) {
	if s.order == nil {
		s.order = s.room[:0]
	}
	s.order = append(s.order, w)
	if s.many != nil {
		s.many[w.cell] = w
		return
	}
	if len(s.order) > fewCells {
		s.many = make(map[Cell]*write, 2*fewCells)
		for _, w := range s.order {
			s.many[w.cell] = w
		}
	}
}

// bytes is the size of all values.
func (s *writeSet) bytes() int {
	n := 0
	for _, w := range s.order {
		n += len(w.value)
	}
	return n
}
