package notify

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// The buckets of a Histogram: the first counts durations up to leastBound, each following
// one up to twice as much, and the last everything longer than 8 min 44 s. So a quantile
// is accurate to a factor of two, whatever is measured, and a histogram takes only 23
// numbers.
const (
	leastBound = 250 * time.Microsecond
	bounds     = 22
)

// Histogram counts durations by length. The zero value is ready for concurrent
// use.
type Histogram struct {
	counts [bounds + 1]atomic.Int64
	sum    atomic.Int64
}

// Observe counts a duration. A negative one, from a clock that was set back, counts as zero.
func (h *Histogram) Observe(d time.Duration) {
	d = max(d, 0)
	steps := uint64((d + leastBound - 1) / leastBound) // rounded up: bounds are inclusive
	i := 0
	if steps > 1 {
		i = min(bits.Len64(steps-1), bounds)
	}
	h.counts[i].Add(1)
	h.sum.Add(int64(d))
}

// Distribution returns the counts so far. While other goroutines call Observe, the last
// durations may be missing.
func (h *Histogram) Distribution() Distribution {
	d := Distribution{Sum: time.Duration(h.sum.Load())}
	for i := range h.counts {
		d.Counts[i] = h.counts[i].Load()
	}
	return d
}

// Distribution is the state of a Histogram at one moment.
type Distribution struct {
	// Counts has the number of durations in each bucket, without those in the buckets below.
	// Bounds returns the upper bounds.
	Counts [bounds + 1]int64
	Sum    time.Duration
}

// Bounds are the upper bounds of all buckets except the last, which has none.
func (d *Distribution) Bounds() []time.Duration {
	list := make([]time.Duration, bounds)
	for i := range list {
		list[i] = leastBound << i
	}
	return list
}

// N is the number of durations.
func (d *Distribution) N() (n int64) {
	for _, c := range d.Counts {
		n += c
	}
	return n
}

// Since returns the counts after an earlier Distribution of the same Histogram.
func (d *Distribution) Since(earlier Distribution) Distribution {
	s := Distribution{Sum: d.Sum - earlier.Sum}
	for i := range d.Counts {
		s.Counts[i] = max(d.Counts[i]-earlier.Counts[i], 0)
	}
	return s
}

// Quantile estimates the duration that a share p of all did not exceed, by interpolating in
// its bucket; 0 if there are none. In the last bucket it returns the lower bound.
func (d *Distribution) Quantile(p float64) time.Duration {
	total := d.N()
	if total == 0 {
		return 0
	}
	rank := p * float64(total)
	below := 0.0
	for i, c := range d.Counts {
		if c == 0 || below+float64(c) < rank {
			below += float64(c)
			continue
		}
		from, to := time.Duration(0), leastBound
		if i > 0 {
			from, to = leastBound<<(i-1), leastBound<<i
		}
		if i == bounds {
			return from
		}
		return from + time.Duration((rank-below)/float64(c)*float64(to-from))
	}
	return leastBound << (bounds - 1)
}
