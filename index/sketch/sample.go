package sketch

import (
	"encoding/binary"
	"slices"
)

// A sample of a text is one in eight of its shingles, chosen by their hashes, so that texts
// with a common passage have the same sample of it. Counting in how many texts of a site a
// shingle of the sample occurs shows which passages the site repeats.
//
// A shingle of a sample is a number below Slots. Other shingles may have the same number.
const (
	Slots   = 1 << 13
	oneIn   = 8
	maximum = 256 // shingles in a sample, from the beginning of a text
)

// Sampler makes the sample of a text from its words. The zero value is usable.
type Sampler struct {
	window window
	slots  []uint16
}

// Add adds the next word, and returns the shingle that it completes, if that is sampled.
func (s *Sampler) Add(word []byte) (slot uint16, sampled bool) {
	shingle, ok := s.window.add(word)
	if !ok {
		return 0, false
	}
	return s.AddShingle(shingle)
}

// AddShingle does what Add does, for a shingle that a Builder has completed. It does not
// learn the words: call Break before the next Add.
func (s *Sampler) AddShingle(h uint64) (slot uint16, sampled bool) {
	if (h>>1)%oneIn != 0 {
		return 0, false
	}
	slot = uint16((h >> 4) % Slots)
	if len(s.slots) < maximum {
		s.slots = append(s.slots, slot)
	}
	return slot, true
}

// Break makes the next word begin a new shingle.
func (s *Sampler) Break() { s.window = window{} }

// Sample returns the sample of the words so far, in ascending order without duplicates.
func (s *Sampler) Sample() []uint16 {
	slices.Sort(s.slots)
	return slices.Compact(s.slots)
}

// SlotBytes is the size of a shingle in a stored sample, in bytes.
const SlotBytes = 2

// PackSample returns the stored form of a sample: its shingles, little-endian.
func PackSample(sample []uint16) []byte {
	b := make([]byte, 0, SlotBytes*len(sample))
	for _, slot := range sample {
		b = binary.LittleEndian.AppendUint16(b, slot)
	}
	return b
}

// UnpackSample returns the shingles of a stored sample.
func UnpackSample(stored []byte) []uint16 {
	list := make([]uint16, 0, len(stored)/SlotBytes)
	for ; len(stored) >= SlotBytes; stored = stored[SlotBytes:] {
		list = append(list, binary.LittleEndian.Uint16(stored)%Slots)
	}
	return list
}
