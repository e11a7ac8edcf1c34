package txn

// readCache holds the cells that a transaction has read. Most transactions read a few, for
// which a list is smaller and faster than a map.
type readCache struct {
	few  []cachedCell
	room [1]cachedCell  // of few, to begin with
	many map[Cell]Value // of all, once there are more than fewCells
}

type cachedCell struct {
	cell  Cell
	value Value
}

const fewCells = 8

func (r *readCache) get(c Cell) (Value, bool) {
	if r.many != nil {
		v, ok := r.many[c]
		return v, ok
	}
	for i := range r.few {
		if r.few[i].cell == c {
			return r.few[i].value, true
		}
	}
	return Value{}, false
}

// put adds a cell that is not in the cache yet.
func (r *readCache) put(c Cell, v Value) {
	if r.few == nil && r.many == nil {
		r.few = r.room[:0]
	}
	if r.many == nil && len(r.few) < fewCells {
		r.few = append(r.few, cachedCell{c, v})
		return
	}
	if r.many == nil {
		r.many = make(map[Cell]Value, 2*fewCells)
		for _, f := range r.few {
			r.many[f.cell] = f.value
		}
		r.few = nil
	}
	r.many[c] = v
}
