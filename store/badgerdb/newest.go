package badgerdb

// newest is an upper bound of the newest timestamp of every column: a bounded map
// from the hash of a column (group, row, column) to a bound, and a floor per
// group for the columns that are not in the map.
//
// Invariants, for every column of every row, at any time:
//
//  1. In the map: its bound is at least every timestamp ever put into it.
//  2. Not in the map: the floor of its group is at least every timestamp ever put
//     into it.
//
// So a guard for cells from MinTS on finds nothing if the bound is below MinTS, and the
// engine need not read. A bound that is too high (after a delete, a hash collision, or
// an eviction) costs a read and nothing else. The invariants hold because
//
//   - for a column that is not in the map, note starts from the floor (2 → 1);
//   - before the older half of the map is dropped, the floors are raised to the
//     greatest bound in it (1 → 2);
//   - at the beginning, the floors are the bounds of all timestamps ever put that the
//     last group of writes has stored (meta.go).
//
// It is guarded by the committer's writeMu.
type newest struct {
	half       int // size at which a generation is full
	young, old generation
	floor      [maxGroups]uint64
}

type generation struct {
	bound map[uint64]uint64
	max   [maxGroups]uint64
}

func newNewest(cells int) *newest {
	n := &newest{half: max(cells/2, 1)}
	n.young.bound = make(map[uint64]uint64)
	return n
}

// of returns the bound of a column in group number g.
func (n *newest) of(g int, column uint64) uint64 {
	if ts, ok := n.young.bound[column]; ok {
		return ts
	}
	if ts, ok := n.old.bound[column]; ok {
		return ts
	}
	return n.floor[g]
}

// note records a put, and returns the column's bound.
func (n *newest) note(g int, column, ts uint64) uint64 {
	ts = max(ts, n.of(g, column))
	if len(n.young.bound) >= n.half {
		n.evict()
	}
	n.young.bound[column] = ts
	n.young.max[g] = max(n.young.max[g], ts)
	return ts
}

func (n *newest) evict() {
	for g, ts := range n.old.max {
		n.floor[g] = max(n.floor[g], ts)
	}
	n.old = n.young
	n.young = generation{bound: make(map[uint64]uint64, n.half)}
}
