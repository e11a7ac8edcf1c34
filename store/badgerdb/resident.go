package badgerdb

import (
	"context"
	"sync/atomic"

	"github.com/webindexer/indexer/store"
)

// resident is the set of the cells of a Resident group, by stored key, with their
// timestamps. The set is complete, unless the group broke its promise to stay nearly
// empty. Then lost is set, and the engine looks into Badger as for any other group.
// The set is guarded by the committer's writeMu. Readers only learn from their view
// whether it was empty.
//
// A lost set becomes complete again when a reader has scanned the whole group at some
// sequence number and found nothing, and nothing has been put since: the group is then
// known to be empty. So after a million cells have passed through a group at once, one
// more scan steps over their tombstones, and no later one does.
type resident struct {
	cells map[string]uint64
	lost  bool
	// lastPut is the sequence number of the last group of writes with a put.
	lastPut uint64
	// seenEmpty is the greatest sequence number at which a reader found nothing.
	seenEmpty atomic.Uint64
}

// sawEmpty is called by readers.
func (r *resident) sawEmpty(seq uint64) {
	for {
		seen := r.seenEmpty.Load()
		if seq <= seen || r.seenEmpty.CompareAndSwap(seen, seq) {
			return
		}
	}
}

// recover makes a lost set complete again, if it can.
func (r *resident) recover() {
	if r.lost && r.seenEmpty.Load() >= r.lastPut {
		r.cells, r.lost = map[string]uint64{}, false
	}
}

// noteEmpty tells the committer that a scan of a whole resident group found nothing.
func (db *DB) noteEmpty(rg *store.Range, seq uint64) {
	g := db.group(rg.Group)
	whole := len(rg.Start) == 0 && rg.End == nil && len(rg.ColumnPrefix) == 0 && rg.MinTS == 0 && (rg.MaxTS == 0 || rg.MaxTS >= store.MaxTS)
	if g == nil || !whole {
		return
	}
	if set := db.committer.residents[g.number]; set != nil {
		set.sawEmpty(seq)
	}
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

// loadResidents reads the sets of all Resident groups when the table is opened: from the file
// RESIDENT (residentfile.go), or by a scan.
func (db *DB) loadResidents(ctx context.Context) ([]*resident, error) {
	sets := make([]*resident, len(db.groups))
	r := db.readerAt(db.seqAtOpen, groupSet{})
	known := db.readResidents()
	for i := range db.groups {
		g := &db.groups[i]
		if !g.Resident {
			continue
		}
		set := &resident{cells: map[string]uint64{}, lastPut: db.seqAtOpen}
		sets[i] = set
		if cells, ok := known[g.id]; ok {
			set.cells = cells
			continue
		}
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
