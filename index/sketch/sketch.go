// Package sketch computes short sketches of texts. Two sketches show how similar their
// texts are, without the texts. The method is MinHash over shingles of words, with one
// permutation (Li, Owen, Zhang 2012).
//
// The similarity of two texts is the Jaccard coefficient of their sets of shingles: the
// number of shingles in both, divided by the number in either. Hashes distribute the
// shingles over bins, and a sketch has the least hash of each bin. The probability that two
// texts have the same least hash in a bin is their similarity.
package sketch

import (
	"encoding/binary"
	"math/bits"

	"github.com/cespare/xxhash/v2"
)

const (
	// words is the number of words in a shingle, and so the number of shingles that one
	// changed word changes.
	words = 4
	// bins bounds the error: at a similarity of 0.8, the standard error of an estimate is
	// 0.035, and that of texts with fewer shingles than bins is not much greater.
	bins     = 128
	binBits  = 7
	binBytes = 2
)

// Size is the size of a sketch in bytes. Sketches are stored: a change of them must raise the
// format version of the index files.
const Size = bins * binBytes

// Sketch is a sketch of a text: for each bin 16 bits of the least hash, 0 for none. A text
// without words has a sketch without any.
type Sketch [Size]byte

// window is the last words of a text.
type window struct {
	last  [words]uint64 // their hashes, the newest first
	count int           // words so far
}

// add adds the next word, and returns the hash of the shingle that ends with it.
func (w *window) add(word []byte) (shingle uint64, ok bool) {
	copy(w.last[1:], w.last[:words-1])
	w.last[0] = xxhash.Sum64(word)
	if w.count++; w.count < words {
		return 0, false
	}
	return w.shingle(), true
}

// shingle returns the hash of the last words.
func (w *window) shingle() uint64 {
	h := uint64(0)
	for _, x := range w.last {
		h = (h ^ x) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	h *= 0xBF58476D1CE4E5B9
	return h ^ h>>32
}

// Builder makes the sketch of a text from its words. The zero value is usable.
type Builder struct {
	window window
	least  [bins]uint64 // 0: none
}

// Add adds the next word, and returns the hash of the shingle that it completes, if any.
func (b *Builder) Add(word []byte) (shingle uint64, ok bool) {
	if shingle, ok = b.window.add(word); ok {
		b.add(shingle)
	}
	return shingle, ok
}

func (b *Builder) add(h uint64) {
	bin := h >> (64 - binBits)
	if h |= 1; b.least[bin] == 0 || h < b.least[bin] { // 0 means none
		b.least[bin] = h
	}
}

// Sketch returns the sketch of the words so far. A text with fewer words than a shingle has
// is one shingle.
func (b *Builder) Sketch() (s Sketch) {
	if n := b.window.count; n > 0 && n < words {
		b.add(b.window.shingle())
	}
	for i, h := range b.least {
		if h == 0 {
			continue
		}
		// In every least hash the high bits are small; the low bits are as good as random.
		binary.LittleEndian.PutUint16(s[i*binBytes:], max(uint16(h>>1), 1))
	}
	return s
}

// Of returns the sketch that was stored as these bytes, or nil if they are not a sketch.
func Of(stored []byte) *Sketch {
	if len(stored) != Size {
		return nil
	}
	return (*Sketch)(stored)
}

// Bins returns how many bins have a hash. A text with few shingles fills few bins, and its
// sketch says little.
func (s *Sketch) Bins() (n int) {
	for i := 0; i < Size; i += 8 {
		n += filled(binary.LittleEndian.Uint64(s[i:]))
	}
	return n
}

// Similarity estimates the similarity of two texts, from 0 to 1. It is 0 if either has no
// words.
func Similarity(a, b *Sketch) float64 {
	same, either, _ := compare(a, b, bins)
	return ratio(same, either)
}

// Similar reports whether [Similarity] is at least least. It takes a fraction of the time
// if the texts have little in common.
func Similar(a, b *Sketch, least float64) bool {
	// At most (1-least)·either bins differ. One more allows for rounding.
	same, either, ok := compare(a, b, int((1-least)*bins)+1)
	return ok && same > 0 && ratio(same, either) >= least
}

func ratio(same, either int) float64 {
	if either == 0 {
		return 0
	}
	return float64(same) / float64(either)
}

// compare counts the bins in which two sketches have the same hash, and those in which
// either has one. It gives up as soon as more than most bins differ: most sketches that a
// search compares have nothing in common.
func compare(a, b *Sketch, most int) (same, either int, ok bool) {
	differ := 0
	for i := 0; i < Size; i += 8 {
		differ += filled(binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]))
		if differ > most {
			return 0, 0, false
		}
	}
	for i := 0; i < Size; i += 8 {
		either += filled(binary.LittleEndian.Uint64(a[i:]) | binary.LittleEndian.Uint64(b[i:]))
	}
	return either - differ, either, true
}

// filled returns how many of the four bins in a word are not zero. Adding 0x7FFF to the
// low 15 bits of a bin sets its highest bit unless they are all zero, and never carries
// into the next bin.
func filled(word uint64) int {
	const low = 0x7FFF_7FFF_7FFF_7FFF
	return bits.OnesCount64((word&low + low | word) &^ low)
}
