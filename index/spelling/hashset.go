package spelling

import (
	"math/bits"
	"math/rand/v2"
)

// hashSet is a set of the hashes of words, each with a mark that says whether the word is stored. It
// keeps 62 bits of each hash and takes 11 to 21 bytes for each. It is several times as fast as a map:
// all words of an index are read when the index is opened for writing.
type hashSet struct {
	slots  []uint64 // open addressing; 0: free
	factor uint64   // random and odd, so that a page cannot choose the slots of its words
	shift  int      // leaves the bits of a slot's number
	used   int
	stored int
}

const (
	storedBit = 1
	usedBit   = 2
)

// makeHashSet returns an empty set with room for n hashes.
func makeHashSet(n int) hashSet {
	size := 64
	for 3*size < 4*n {
		size *= 2
	}
	return hashSet{slots: make([]uint64, size), factor: rand.Uint64() | 1, shift: 64 - bits.TrailingZeros(uint(size))}
}

// find returns the slot of a hash, or the free slot where it belongs.
func (s *hashSet) find(hash uint64) int {
	key, mask := hash|storedBit|usedBit, len(s.slots)-1
	at := int((hash >> 2 * s.factor) >> s.shift)
	for s.slots[at] != 0 && s.slots[at]|storedBit != key {
		at = (at + 1) & mask
	}
	return at
}

// get reports whether the set has a hash, and whether its word is stored.
func (s *hashSet) get(hash uint64) (has, stored bool) {
	if len(s.slots) == 0 {
		return false, false
	}
	slot := s.slots[s.find(hash)]
	return slot != 0, slot&storedBit != 0
}

// put adds a hash, if the set does not have it, and marks its word as stored if stored is true.
func (s *hashSet) put(hash uint64, stored bool) {
	if 4*(s.used+1) > 3*len(s.slots) {
		s.grow()
	}
	at := s.find(hash)
	if s.slots[at] == 0 {
		s.slots[at] = (hash | usedBit) &^ storedBit
		s.used++
	}
	if stored && s.slots[at]&storedBit == 0 {
		s.slots[at] |= storedBit
		s.stored++
	}
}

func (s *hashSet) grow() { *s = s.without(func(uint64) bool { return false }, 2*s.used) }

// onlyStored returns the set without the words that are not stored.
func (s *hashSet) onlyStored() hashSet {
	return s.without(func(slot uint64) bool { return slot&storedBit == 0 }, s.stored)
}

// without returns the set without some slots, with room for n hashes.
func (s *hashSet) without(drop func(slot uint64) bool, room int) hashSet {
	next := makeHashSet(room)
	for _, slot := range s.slots {
		if slot != 0 && !drop(slot) {
			next.put(slot, slot&storedBit != 0)
		}
	}
	return next
}
