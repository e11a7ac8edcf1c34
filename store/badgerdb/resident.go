package badgerdb

import (
	"context"

	"indexer/store"
)

// resident is the set of the cells of a Resident group, by stored key, with their
// timestamps. It is complete, unless the group broke its promise to stay nearly
// empty: then lost is set, and the engine looks into Badger as for any group.
// It belongs to the committer's goroutine; readers only learn whether it was
// empty, through their view.
type resident struct {
	cells map[string]uint64
	lost  bool
}

// maxResident bounds a set, in cells.
const maxResident = 1 << 18

func (r *resident) put(key []byte, ts uint64) {
	if r.lost {
		return
	}
	r.cells[string(key)] = ts
	if len(r.cells) > maxResident {
		r.cells, r.lost = nil, true
	}
}

func (r *resident) remove(key []byte) { delete(r.cells, string(key)) }

func (r *resident) empty() bool { return !r.lost && len(r.cells) == 0 }

// loadResidents reads the sets when the table is opened.
func (db *DB) loadResidents(ctx context.Context) ([]*resident, error) {
	sets := make([]*resident, len(db.groups))
	r := db.readerAt(db.seqAtOpen, groupSet{})
	defer r.close()
	for i := range db.groups {
		g := &db.groups[i]
		if !g.Resident {
			continue
		}
		set := &resident{cells: map[string]uint64{}}
		sets[i] = set
		_, err := r.scan(ctx, store.Range{Group: g.Name}, true, func(c store.Cell) error {
			set.put(g.key(c.Row, c.Column, c.TS), c.TS)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return sets, nil
}

func emptyGroups(sets []*resident) (s groupSet) {
	for i, r := range sets {
		if r != nil && r.empty() {
			s.add(i)
		}
	}
	return s
}
