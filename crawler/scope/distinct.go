package scope

import (
	"math"
	"math/bits"
	"slices"
)

const (
	// exactItems is the number up to which a distinct keeps the items themselves.
	exactItems = 32
	// registers of the estimate beyond. Its standard error is 1.04/sqrt(registers), 9 %.
	registers = 128
)

// distinct counts different items by their hashes: exactly up to exactItems, then by
// HyperLogLog (Flajolet et al., 2007), in constant space. Its state is a function of
// the set of items added, whatever their order.
type distinct struct {
	items []uint64          // until there are more than exactItems
	ranks *[registers]uint8 // nil until then
}

func (d *distinct) add(hash uint64) {
	if d.ranks != nil {
		d.raise(hash)
		return
	}
	if d.knows(hash) {
		return
	}
	if d.items = append(d.items, hash); len(d.items) > exactItems {
		d.ranks = new([registers]uint8)
		for _, hash := range d.items {
			d.raise(hash)
		}
		d.items = nil
	}
}

// knows reports that an item was certainly added. Once the count is an estimate, that
// is never certain.
func (d *distinct) knows(hash uint64) bool {
	return slices.Contains(d.items, hash)
}

func (d *distinct) raise(hash uint64) {
	rank := uint8(bits.LeadingZeros64(hash|(registers-1))) + 1
	register := &d.ranks[hash%registers]
	*register = max(*register, rank)
}

// count returns the number of different items, estimated if there are many.
func (d *distinct) count() int {
	if d.ranks == nil {
		return len(d.items)
	}
	sum, zeros := 0.0, 0
	for _, rank := range d.ranks {
		sum += math.Ldexp(1, -int(rank))
		if rank == 0 {
			zeros++
		}
	}
	const m = float64(registers)
	estimate := 0.7213 / (1 + 1.079/m) * m * m / sum
	if estimate <= 2.5*m && zeros > 0 {
		estimate = m * math.Log(m/float64(zeros)) // linear counting
	}
	return int(estimate + 0.5)
}
