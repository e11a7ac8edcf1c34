package sketch

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
)

func TestBandSizes(t *testing.T) {
	for _, c := range []struct {
		least       float64
		size, count int
	}{{1, 128, 1}, {0.95, 19, 7}, {0.9, 9, 15}, {0.8, 4, 32}, {0.75, 3, 43}, {0.5, 1, 128}, {0.1, 1, 128}} {
		if b := BandsFor(c.least); b.size != c.size || b.Count() != c.count {
			t.Errorf("%v: %d bands of %d bins, want %d of %d", c.least, b.Count(), b.size, c.count, c.size)
		}
	}
}

// TestBandsMissNothing: whatever bins of two sketches are empty, equal or different, and
// however these are arranged, a pair that is similar enough agrees in a band with a key. The
// arrangements include the worst one, with a bin that differs in as many bands as possible.
func TestBandsMissNothing(t *testing.T) {
	rng := testenv.Random(t)
	met := 0
	for range testenv.Size(5000, 20_000, 2_000_000) {
		least := float64(10+rng.IntN(91)) / 100
		bands := BandsFor(least)
		either := 1 + rng.IntN(bins)
		differ := rng.IntN(int(float64(either)*(1-least)) + 1)
		x, y := pairOf(rng, bands, either, differ)
		if Similarity(x, y) < least {
			t.Fatalf("%d of %d bins differ: similarity %v, want at least %v", differ, either, Similarity(x, y), least)
		}
		first := bands.First(x, y)
		if first < 0 {
			t.Fatalf("similarity %v: no band is equal, of those for %v:\n%x\n%x", Similarity(x, y), least, x, y)
		}
		a, ok := bands.Key(x, first)
		if b, ok2 := bands.Key(y, first); a != b || !ok || !ok2 {
			t.Fatalf("band %d is equal, and its keys are %x and %x", first, a, b)
		}
		met++
	}
	if met == 0 {
		t.Error("no pairs")
	}
}

// pairOf makes two sketches with this many bins, of which some differ.
func pairOf(rng *rand.Rand, bands Bands, either, differ int) (x, y *Sketch) {
	x, y = new(Sketch), new(Sketch)
	order := rng.Perm(bins)
	if rng.IntN(2) == 0 {
		// The bins that differ come first in the order, one in each band, and those that are
		// equal are beside them.
		order = order[:0]
		for i := range bands.size {
			for band := range bands.Count() {
				if bin := band*bands.size + i; bin < bins {
					order = append(order, bin)
				}
			}
		}
		crowded := make([]int, 0, bins)
		crowded = append(crowded, order[:differ]...)
		for bin := range bins {
			if bin%bands.size != 0 || bin/bands.size >= differ {
				crowded = append(crowded, bin)
			}
		}
		order = crowded
	}
	for i, bin := range order[:min(either, len(order))] {
		v := uint16(1 + rng.IntN(1<<16-1))
		binary.LittleEndian.PutUint16(x[bin*binBytes:], v)
		if i < differ {
			v ^= 1 + uint16(rng.IntN(1<<16-1))
		}
		binary.LittleEndian.PutUint16(y[bin*binBytes:], v)
	}
	return x, y
}
