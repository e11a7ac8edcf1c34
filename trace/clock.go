package trace

import (
	"slices"
	"sort"
	"sync"
	"time"
)

// Clock says when a timestamp was handed out.
//
// A sample (t, ts) says that ts was the greatest timestamp so far at t. So whatever is
// above one sample and at or below the next was handed out between the two. While
// nothing happens no samples are taken; the last moment at which nothing had happened
// yet is put down with the first sample after it, or the page that ends an idle night
// could have been loaded at any time of it.
//
// Samples ascend in both. A wall clock that was set back gives none until it has
// caught up. Half of the samples are thinned out when there are maxSamples: the older
// a moment, the less exactly it is known.
type Clock struct {
	mu      sync.Mutex
	samples []clockSample
	idle    int64 // the newest moment at which nothing had happened since the last sample; 0: none
	file    *clockFile
}

// clockSample has a time in nanoseconds since 1970.
type clockSample struct {
	wall int64
	ts   uint64
}

// maxSamples is a megabyte in memory, and at least an hour of work without pause; with
// the older half thinned out again and again some days.
const maxSamples = 64 << 10

// OpenClock reads a file of samples, which it makes if there is none, and goes on with
// it. A file that cannot be read as one is begun anew: it is no more than a help.
func OpenClock(path string) (*Clock, error) {
	f, samples, err := openClockFile(path)
	if err != nil {
		return nil, err
	}
	return &Clock{file: f, samples: samples}, nil
}

// Note takes a sample: last is the greatest timestamp at now. An error is one of
// writing the file; the sample holds in memory all the same.
func (c *Clock) Note(last uint64, now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall := now.UnixNano()
	var fresh []clockSample
	if n := len(c.samples); n > 0 {
		newest := c.samples[n-1]
		switch {
		case wall <= max(newest.wall, c.idle) || last < newest.ts:
			return nil
		case last == newest.ts:
			c.idle = wall
			return nil
		case c.idle > 0:
			fresh = append(fresh, clockSample{c.idle, newest.ts})
		}
	}
	c.idle = 0
	fresh = append(fresh, clockSample{wall, last})
	c.samples = append(c.samples, fresh...)
	if len(c.samples) >= maxSamples {
		c.samples = thinned(c.samples)
		return c.file.replace(c.samples)
	}
	return c.file.append(fresh)
}

// thinned leaves out every second sample of the older half, but for the first.
func thinned(all []clockSample) []clockSample {
	half := len(all) / 2
	kept := make([]clockSample, 0, len(all)*3/4+1)
	for i, s := range all {
		if i >= half || i%2 == 0 {
			kept = append(kept, s)
		}
	}
	return slices.Clip(kept)
}

// At is when a timestamp was handed out, and by how much that may be wrong. It reports
// false for those before the first sample.
func (c *Clock) At(ts uint64) (at time.Time, within time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := sort.Search(len(c.samples), func(i int) bool { return c.samples[i].ts >= ts })
	if i == 0 {
		return at, 0, false
	}
	from := c.samples[i-1]
	to := clockSample{time.Now().UnixNano(), ts}
	if i < len(c.samples) {
		to = c.samples[i]
	} else if c.idle > 0 {
		from.wall = c.idle
	}
	half := max(to.wall-from.wall, 0) / 2
	// On a line between the two, so that the order stays what it was.
	share := 1.0
	if to.ts > from.ts {
		share = float64(ts-from.ts) / float64(to.ts-from.ts)
	}
	wall := from.wall + int64(share*float64(2*half))
	return time.Unix(0, wall), time.Duration(max(wall-from.wall, from.wall+2*half-wall)), true
}

// Close closes the file. The Clock goes on in memory.
func (c *Clock) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.file.close()
}
