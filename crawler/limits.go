package crawler

import (
	"fmt"
	"time"

	"github.com/webindexer/indexer/internal/humanize"
)

// checkLimits ends the crawl when a limit is reached.
func (c *Crawler) checkLimits(now time.Time) {
	l := &c.opts.Limits
	switch {
	case l.Pages > 0 && c.meter.pages >= l.Pages:
		c.stop("the limit of " + humanize.Count(l.Pages, "page") + " is reached")
	case l.Bytes > 0 && c.meter.bytes >= l.Bytes:
		c.stop("the limit of " + humanize.Count(l.Bytes, "byte") + " is reached")
	case l.Time > 0 && now.Sub(c.started) >= l.Time:
		c.stop(fmt.Sprintf("the limit of %v is reached", l.Time))
	}
}

// held reports whether the requests under way may reach a limit by themselves. If so,
// no other request starts until one of them has ended and its size is known.
//
// Jobs under way count as done here and nowhere else: if one is given up (the store
// failed, and the crawl paused), another may take its place. Each is expected to
// receive the mean number of bytes of earlier visits. If none is under way, nothing is
// reserved, so the crawl either continues or has reached the limit.
func (c *Crawler) held() bool {
	l, m := &c.opts.Limits, &c.meter
	if l.Pages > 0 && m.pages+m.jobs >= l.Pages {
		return true
	}
	return l.Bytes > 0 && m.jobs > 0 && m.bytes+m.jobs*m.expected() >= l.Bytes
}

// typicalPage is how many bytes the first visit is expected to bring.
const typicalPage = 64 << 10

// expected is how many bytes a visit is expected to bring: the mean of the visits so
// far. A typical page is counted with them, so that the first small ones do not let all
// hosts start.
func (m *meter) expected() int64 { return (m.pageBytes + typicalPage) / (m.pages + 1) }

// mayStart reports whether one more request or store operation may start.
func (c *Crawler) mayStart() bool {
	return c.stopping == "" && c.paused == "" && c.running < c.opts.Concurrency && !c.held()
}
