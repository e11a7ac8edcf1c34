package trace

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Clock knows when timestamps were handed out.
//
// A sample (t, ts) says that ts was the highest timestamp at time t. So a timestamp above
// one sample and at or below the next was handed out between the two. While no timestamps
// are handed out, no samples are taken. The first sample after a pause is preceded by one
// for the last moment of the pause; otherwise a page loaded at the end of an idle night
// could have been loaded at any time in it.
//
// Samples ascend in both values. After the wall clock was set back, there are no samples
// until it has caught up. When there are maxSamples, every second sample of the older half
// is dropped: the older a moment, the less precisely it is known.
//
// The zero value has no samples and no file.
type Clock struct {
	mu      sync.Mutex
	samples []clockSample
	idle    int64      // the latest time without new timestamps since the last sample; 0: none
	file    *clockFile // nil: only in memory
}

// clockSample has a time in nanoseconds since 1970.
type clockSample struct {
	wall int64
	ts   uint64
}

// maxSamples take a megabyte of memory. They cover at least an hour of work without pause, or some
// days with the older half thinned out repeatedly.
const maxSamples = 64 << 10

// OpenClock opens or creates a file of samples and appends to it. If the content is not
// valid, it starts a new file, because the samples are optional.
func OpenClock(path string) (*Clock, error) {
	f, samples, err := openClockFile(path)
	if err != nil {
		return nil, err
	}
	return &Clock{file: f, samples: samples}, nil
}

// Note takes a sample: last is the highest timestamp at time now. It returns an error if
// the file cannot be written; the sample is in memory even then.
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

// thinned drops every second sample of the older half, but keeps the first.
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

// At returns when a timestamp was handed out, and the maximum error of that time. It
// reports false for a timestamp before the first sample.
func (c *Clock) At(ts uint64) (at time.Time, within time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, _ := slices.BinarySearchFunc(c.samples, ts, func(s clockSample, ts uint64) int { return cmp.Compare(s.ts, ts) })
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
	// Interpolate, so that times keep the order of timestamps.
	share := 1.0
	if to.ts > from.ts {
		share = float64(ts-from.ts) / float64(to.ts-from.ts)
	}
	wall := from.wall + int64(share*float64(2*half))
	return time.Unix(0, wall), time.Duration(max(wall-from.wall, from.wall+2*half-wall)), true
}

// Close closes the file. The Clock continues in memory.
func (c *Clock) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.file.close()
}
