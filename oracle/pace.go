package oracle

import (
	"sort"
	"time"
)

// pace remembers how many timestamps had been handed out at some times, to tell people how
// fast they are handed out and how old one is. Nothing depends on it.
//
// It takes a sample a second at most. When it is full, it forgets every second sample of
// its older half, so it covers any time with a bounded number of samples, the recent past
// most exactly.
type pace struct {
	samples []paceSample
}

type paceSample struct {
	at   time.Time
	next uint64 // the next timestamp that was to be handed out
}

const (
	paceSamples = 512
	paceEvery   = time.Second
	paceWindow  = 10 * time.Second
)

// note takes a sample if the last one is old enough.
func (p *pace) note(at time.Time, next uint64) {
	if n := len(p.samples); n > 0 && at.Sub(p.samples[n-1].at) < paceEvery {
		return
	}
	if len(p.samples) == paceSamples {
		kept := p.samples[:1]
		for i, s := range p.samples[1:] {
			if i >= paceSamples/2 || i%2 == 1 {
				kept = append(kept, s)
			}
		}
		p.samples = kept
	}
	p.samples = append(p.samples, paceSample{at, next})
}

// perSecond is the rate of the last paceWindow, or of the whole time if that is shorter.
func (p *pace) perSecond(now time.Time, next uint64) float64 {
	for i := len(p.samples) - 1; i >= 0; i-- {
		s := p.samples[i]
		took := now.Sub(s.at)
		if took < paceWindow && i > 0 {
			continue
		}
		if took <= 0 {
			return 0
		}
		return float64(next-s.next) / took.Seconds()
	}
	return 0
}

// age returns an upper bound of how long ago a timestamp was handed out: the time since the
// last sample at which it had not been handed out yet. A timestamp from before the first
// sample is at least as old as the result.
func (p *pace) age(now time.Time, ts uint64) time.Duration {
	after := sort.Search(len(p.samples), func(i int) bool { return p.samples[i].next > ts })
	if len(p.samples) == 0 {
		return 0
	}
	return now.Sub(p.samples[max(after-1, 0)].at)
}
