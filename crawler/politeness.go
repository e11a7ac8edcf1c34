package crawler

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
)

// pace is how fast a host may be asked. It has two parts that add up:
//
//   - the delay between any two requests, which follows how fast the host answers;
//   - the time until which the host is left alone, because it asked for that
//     (Retry-After) or failed: Backoff, doubled with every failure in a row up to
//     MaxBackoff, and reset by the first success.
type pace struct {
	response   time.Duration // smoothed; 0: not known yet
	crawlDelay time.Duration // as robots.txt says; 0: it does not
	failures   int           // in a row

	until time.Time // leave the host alone until then
	asked time.Time // until when the host asked to be left alone, if it did
	why   string
}

// delay returns the time from the end of a request to the start of the next.
func (p *pace) delay(o *Politeness) time.Duration {
	d := o.MinDelay
	if o.CrawlDelayCap > 0 {
		d = max(d, min(p.crawlDelay, o.CrawlDelayCap))
	}
	if o.DelayFactor > 0 {
		d = max(d, min(time.Duration(o.DelayFactor*float64(p.response)), o.MaxDelay))
	}
	return min(d, o.MaxDelay)
}

// observe learns from an exchange.
func (p *pace) observe(o *Politeness, x exchange, rng *rand.Rand) {
	if x.status != 0 {
		p.smooth(x.end.Sub(x.start))
	}
	if x.retryAfter > 0 && x.status >= 300 {
		asked := x.end.Add(min(x.retryAfter, o.MaxRetryAfter))
		p.leaveAlone(asked, fmt.Sprintf("status %d with Retry-After", x.status))
		if asked.After(p.asked) {
			p.asked = asked
		}
	}
	switch {
	case x.againstHost:
		p.failures++
		p.leaveAlone(x.end.Add(jitter(backOff(o.Backoff, 2, p.failures, o.MaxBackoff), rng)), x.trouble())
	case x.status != 0:
		p.failures = 0
	}
}

// smooth updates an exponentially weighted moving average, in which the newest value
// weighs a quarter.
func (p *pace) smooth(d time.Duration) {
	if p.response == 0 {
		p.response = d
		return
	}
	p.response += (d - p.response) / 4
}

func (p *pace) leaveAlone(until time.Time, why string) {
	if until.After(p.until) {
		p.until, p.why = until, why
	}
}

// backOff returns how long to wait after a number of failures in a row: first, multiplied
// by factor for each of them after the first one, at most longest.
func backOff(first, factor time.Duration, failures int, longest time.Duration) time.Duration {
	d := min(first, longest)
	for range failures - 1 {
		if d *= factor; d >= longest {
			return longest
		}
	}
	return d
}

// jitter varies d by up to a quarter in either direction, so that hosts that failed
// together (in a network outage) do not come back together.
func jitter(d time.Duration, rng *rand.Rand) time.Duration {
	return d*3/4 + time.Duration(rng.Int64N(int64(d)/2+1))
}

// trouble says in a few words what counted against the host.
func (x *exchange) trouble() string {
	if x.class != fetch.OK {
		return x.class.String()
	}
	return fmt.Sprintf("status %d", x.status)
}
