package rank

import (
	"errors"
	"fmt"
	"hash/maphash"
)

// Names numbers names from 0 in the order in which they are added, for graphs of more
// names than memory has room for: it keeps 64 bits of each, 12 to 24 bytes with
// everything, whatever its length. It is not safe for concurrent use.
//
// Two names with the same 64 bits are noticed when the second one is added. Of a name
// that was never added Number may say anything, with the probability of 1 in 2⁶⁴ for
// each that was; whoever asks for such names must not rely on the answer.
type Names struct {
	seed  maphash.Seed
	slots []uint32 // number + 1, 0 for none; open addressing
	bits  []uint64 // of each number
}

// ErrSameBits: two names cannot be told apart. New Names have other bits.
var ErrSameBits = errors.New("rank: two names have the same 64 bits")

// NewNames makes an empty one.
func NewNames() *Names { return &Names{seed: maphash.MakeSeed(), slots: make([]uint32, 16)} }

// Len is how many names there are.
func (n *Names) Len() int { return len(n.bits) }

// Add numbers a name that was not added before.
func (n *Names) Add(name string) (uint32, error) {
	if len(n.bits) >= maxNodes-1 {
		return 0, fmt.Errorf("rank: at most %d names can be numbered", maxNodes-1)
	}
	bits := maphash.String(n.seed, name)
	at, known := n.find(bits)
	if known {
		return 0, fmt.Errorf("%w: %q and another", ErrSameBits, name)
	}
	n.bits = append(n.bits, bits)
	n.slots[at] = uint32(len(n.bits))
	if 4*len(n.bits) > 3*len(n.slots) {
		n.grow()
	}
	return uint32(len(n.bits) - 1), nil
}

// Number is the number of a name that was added.
func (n *Names) Number(name string) (uint32, bool) {
	at, known := n.find(maphash.String(n.seed, name))
	return n.slots[at] - 1, known
}

// find is the slot of some bits, or the free one where they belong.
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
