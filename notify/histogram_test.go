package notify

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/webindexer/indexer/internal/testenv"
)

// Bounds are inclusive, and what is below zero or beyond all bounds counts.
func TestHistogramBuckets(t *testing.T) {
	for _, c := range []struct {
		d      time.Duration
		bucket int
	}{
		{-time.Second, 0}, {0, 0}, {1, 0}, {250 * time.Microsecond, 0}, {250*time.Microsecond + 1, 1}, {500 * time.Microsecond, 1},
		{501 * time.Microsecond, 2}, {time.Millisecond, 2}, {time.Millisecond + 1, 3}, {leastBound << 21, 21}, {leastBound<<21 + 1, 22}, {time.Hour, 22},
	} {
		var h Histogram
		h.Observe(c.d)
		d := h.Distribution()
		if d.Counts[c.bucket] != 1 || d.N() != 1 || d.Sum != max(c.d, 0) {
			t.Errorf("%v: %v, sum %v; want it in bucket %d", c.d, d.Counts, d.Sum, c.bucket)
		}
	}
	var d Distribution
	if b := d.Bounds(); len(b) != bounds || b[0] != leastBound || b[bounds-1] != leastBound<<21 {
		t.Errorf("bounds %v", b)
	}
	if q := d.Quantile(0.5); q != 0 {
		t.Errorf("median of nothing: %v", q)
	}
}

// A quantile is off by at most the width of its bucket, compared with that of all
// values, sorted.
func TestHistogramQuantiles(t *testing.T) {
	for seed := range testenv.Seeds(t, 0, 50) {
		random := rand.New(rand.NewPCG(seed, 1))
		var h Histogram
		values := make([]time.Duration, 1+random.IntN(300))
		for i := range values {
			values[i] = time.Duration(random.ExpFloat64() * float64(80*time.Millisecond))
			h.Observe(values[i])
		}
		slices.Sort(values)
		d := h.Distribution()
		last := time.Duration(0)
		for _, p := range []float64{0.01, 0.25, 0.5, 0.95, 0.99, 1} {
			exact := values[max(int(p*float64(len(values))+0.999999)-1, 0)]
			got := d.Quantile(p)
			if got < last || got > 2*max(exact, leastBound) || exact > leastBound && 2*got < exact {
				t.Errorf("seed %d, %d values: quantile %v is %v, exactly %v, the one before %v", seed, len(values), p, got, exact, last)
			}
			last = got
		}
		before := d
		h.Observe(time.Minute)
		d = h.Distribution()
		if s := d.Since(before); s.N() != 1 || s.Sum != time.Minute || s.Quantile(1) < 30*time.Second {
			t.Errorf("seed %d: since: %+v", seed, s)
		}
	}
}
