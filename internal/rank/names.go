package rank

import (
	"errors"
	"fmt"
	"hash/maphash"
)

// Names numbers names from 0 in the order in which they are added. It serves graphs whose
// names do not fit into memory: it keeps a hash of 64 bits of each name, in 12 to 24 bytes
// altogether, whatever the length of the name. It is not safe for concurrent use.
//
// Add notices two names with the same hash. Number does not: for a name that was never
// added it returns a wrong number with a probability of 1 in 2⁶⁴ for each name that was,
// and a caller that asks for such names must check the answer.
type Names struct {
	seed  maphash.Seed
	slots []uint32 // number + 1, 0 for none; open addressing
	bits  []uint64 // of each number
}

// ErrSameBits says that two names have the same hash. New Names hash differently.
var ErrSameBits = errors.New("rank: two names have the same 64 bits")

// NewNames returns empty Names.
func NewNames() *Names { return &Names{seed: maphash.MakeSeed(), slots: make([]uint32, 16)} }

// Len returns the number of names.
func (n *Names) Len() int { return len(n.bits) }

// Add gives the next number to a name that was not added before.
func (n *Names) Add(name string) (uint32, error) {
	bits := maphash.String(n.seed, name)
	at, known := n.find(bits)
	if known {
		return 0, fmt.Errorf("%w: %q and another", ErrSameBits, name)
	}
	return n.put(at, bits)
}

// put gives the next number to a hash, which belongs in the free slot at.
func (n *Names) put(at int, bits uint64) (uint32, error) {
	if int64(len(n.bits)) >= maxNodes-1 {
		return 0, fmt.Errorf("rank: at most %d names can be numbered", maxNodes-1)
	}
	n.bits = append(n.bits, bits)
	n.slots[at] = uint32(len(n.bits))
	if 4*len(n.bits) > 3*len(n.slots) {
		n.grow()
	}
	return uint32(len(n.bits) - 1), nil
}

// NumberOrAdd returns the number of a name, which is the next number if the name was not added
// before. It treats two names with the same hash as one.
func (n *Names) NumberOrAdd(name []byte) (number uint32, added bool, err error) {
	bits := maphash.Bytes(n.seed, name)
	at, known := n.find(bits)
	if known {
		return n.slots[at] - 1, false, nil
	}
	number, err = n.put(at, bits)
	return number, err == nil, err
}

// Number returns the number of a name that was added.
func (n *Names) Number(name string) (uint32, bool) {
	at, known := n.find(maphash.String(n.seed, name))
	return n.slots[at] - 1, known
}

// Renumber gives each name the number that order has for its present one. order has every number
// once.
func (n *Names) Renumber(order []uint32) {
	bits := make([]uint64, len(n.bits))
	for i, to := range order {
		bits[to] = n.bits[i]
	}
	n.bits = bits
	for at, number := range n.slots {
		if number != 0 {
			n.slots[at] = order[number-1] + 1
		}
	}
}

// find returns the slot of a hash, or the free slot where it belongs.
func (n *Names) find(bits uint64) (at int, known bool) {
	mask := len(n.slots) - 1
	for at = int(bits) & mask; n.slots[at] != 0; at = (at + 1) & mask {
		if n.bits[n.slots[at]-1] == bits {
			return at, true
		}
	}
	return at, false
}

func (n *Names) grow() {
	n.slots = make([]uint32, 2*len(n.slots))
	for i, bits := range n.bits {
		at, _ := n.find(bits)
		n.slots[at] = uint32(i) + 1
	}
}
