package sketch

import (
	"github.com/cespare/xxhash/v2"
)

// Bands divide the bins of a sketch into runs of equal size. They find all similar pairs
// of many sketches without comparing each sketch with every other (locality-sensitive
// hashing): only sketches that agree in a whole band are compared.
//
// Usually such a scheme misses some pairs. This one misses none: the size of the bands
// follows from the least similarity that the caller asks for. Consider the bands in which
// two sketches have a bin in common. If none of these is equal as a whole, each has at least
// one bin that differs, and so at most size-1 bins that are equal. Then the equal bins are
// at most size-1 times the bins that differ, and the similarity is at most (size-1)/size. So
// a size with (size-1)/size below the least similarity is safe. At 0.8, a band has 4 bins,
// or 64 bits, which unrelated texts hardly ever share.
type Bands struct{ size int }

// BandsFor returns the largest bands that miss no pair with at least this [Similarity],
// which is above 0.
func BandsFor(least float64) Bands {
	size := bins
	// Both sides are the quotient of two whole numbers, rounded in the same way as in ratio.
	for size > 1 && float64(size-1)/float64(size) >= least {
		size--
	}
	return Bands{size}
}

// Count returns the number of bands.
func (b Bands) Count() int { return (bins + b.size - 1) / b.size }

// Key returns a hash of a band of a sketch. A band in which all bins are empty has no
// key: it says nothing.
func (b Bands) Key(s *Sketch, band int) (key uint64, ok bool) {
	part := b.part(s, band)
	return xxhash.Sum64(part), !empty(part)
}

// First returns the first band with a key in which two sketches agree, or -1 if there is
// none. A caller that compares sketches band by band meets the pair there first.
func (b Bands) First(x, y *Sketch) int {
	for band := range b.Count() {
		if part := b.part(x, band); string(part) == string(b.part(y, band)) && !empty(part) {
			return band
		}
	}
	return -1
}

func (b Bands) part(s *Sketch, band int) []byte {
	from := band * b.size * binBytes
	return s[from:min(from+b.size*binBytes, Size)]
}

func empty(part []byte) bool {
	for _, b := range part {
		if b != 0 {
			return false
		}
	}
	return true
}
