package crawler

import (
	"fmt"
	"time"
)

// checkLimits ends the crawl when a limit is reached. Jobs count when they begin, so
// that no more than that are done.
func (c *Crawler) checkLimits(now time.Time) {
	l := &c.opts.Limits
	switch {
	case l.Pages > 0 && c.meter.begun >= l.Pages:
		c.stop(fmt.Sprintf("the limit of %d pages is reached", l.Pages))
	case l.Bytes > 0 && c.meter.bytes >= l.Bytes:
		c.stop(fmt.Sprintf("the limit of %d bytes is reached", l.Bytes))
	case l.Time > 0 && now.Sub(c.started) >= l.Time:
		c.stop(fmt.Sprintf("the limit of %v is reached", l.Time))
	}
}
