package crawler

import (
	"context"
	"strings"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/crawler/robots"
	"github.com/webindexer/indexer/page"
)

// A cookie wall answers the first request for a page with a cookie and a redirect, to
// the page itself or to a check that leads back to it, and shows the page to clients
// that send the cookie. Usually each redirect is a visit of its own, and here these
// would go in circles. So a visit follows redirects itself while they may be such a
// wall: on the URL's own host, obeying its robots.txt and pace, with the cookies that
// the responses of this visit have set.
//
//	redirect to the same URL       followed if it brings a cookie that was not sent yet
//	redirect to another URL        followed if there is a cookie to send, or if it leads
//	                               back to the URL that redirected here
//
// The last response for the URL itself is loaded and recorded; the responses on the way
// are not. So a page behind a wall is a page like any other, in the index and in a
// replay; a wall that cannot be passed is the redirect that it always was.
//
// Many sites set a cookie with every response, even with permanent redirects. They
// would be asked for the target twice. After maxDetours redirects of a host that did
// not lead back, and none that did, only redirects to the same URL are followed there.
//
// A redirect may say how long to wait before the next request (Retry-After; RFC 9110 section
// 10.2.3). It is followed after that time, or not at all if that is longer than any delay.
//
// Rejected: hops to other hosts. Each would need the other host's robots.txt and place
// in the queue, while the visit waits.
const (
	maxWallHops = 5
	maxDetours  = 8
)

// wall is a visit that may have to pass a cookie wall. It holds copies of the host's
// data.
type wall struct {
	c       *Crawler
	job     Job
	group   *robots.Group
	delay   time.Duration
	detours bool            // follow redirects to other URLs
	asked   context.Context // ended when the crawl should end

	exchanges []exchange // before the last one
	left      bool       // another URL was requested
	returned  bool       // and led back
	abandoned bool
}

func (c *Crawler) wallOf(h *host, j Job) *wall {
	return &wall{c: c, job: j, group: h.group, delay: h.pace.delay(&c.opts.Politeness), detours: h.detours < maxDetours, asked: c.asked}
}

// fetch makes the visit's requests, and returns the last result for its URL and the
// last exchange.
func (w *wall) fetch(ctx context.Context, memory *fetch.Reservation) (own fetch.Result, x exchange) {
	cookies := fetch.NewCookies()
	request := conditional(w.job)
	request.Cookies = cookies
	sent := ""
	own, x = w.c.exchange(ctx, request, memory)
	at, res := w.job.URL, own
	for range maxWallHops {
		next := w.next(&res, at, cookies, sent)
		if next == "" || memory.Holds() { // no wall has a large body, and only one fetch may have the reservation
			break
		}
		if !w.wait(ctx, max(w.delay, res.RetryAfter)) {
			w.abandoned = true
			break
		}
		w.exchanges = append(w.exchanges, x)
		sent = cookies.For(next)
		hop := fetch.Request{URL: next, Cookies: cookies}
		if next == w.job.URL {
			hop = request
		}
		res, x = w.c.exchange(ctx, hop, memory)
		at = next
		if at == w.job.URL {
			own = res
		}
		w.left = w.left || at != w.job.URL
	}
	w.returned = w.left && at == w.job.URL
	if at != w.job.URL && res.Fetch.HasFailed() && wasPage(&w.job) {
		// The redirect alone would take an existing page out of the index.
		own = fetch.Result{Class: fetch.Reset, Timings: own.Timings, Fetch: page.Fetch{
			URL: w.job.URL, Time: own.Fetch.Time, Err: "the way to the page leads over another URL that failed: " + reason(&res.Fetch),
		}}
	}
	return own, x
}

// next returns the target of a redirect to follow, "" if there is none.
func (w *wall) next(res *fetch.Result, at page.URL, cookies *fetch.Cookies, sent string) page.URL {
	location := strings.TrimSpace(res.Fetch.Header.Get("Location"))
	if res.Class != fetch.OK || location == "" || !res.Fetch.IsRedirect() || res.RetryAfter > w.c.opts.Politeness.MaxDelay {
		return ""
	}
	u, err := at.Resolve(location)
	if err != nil || HostOf(u) != HostOf(w.job.URL) || w.group == nil {
		return ""
	}
	if ok, _ := w.group.Allowed(u); !ok {
		return ""
	}
	now := cookies.For(u)
	switch {
	case u == at && now == sent: // a loop
		return ""
	case u == at, u == w.job.URL && now != "":
		return u
	case !w.detours || now == "" && (w.job.Hops == 0 || string(u) != w.job.Source):
		return ""
	}
	return u
}

// wait leaves the host alone for a while. It returns false if the crawl ends first; the
// URL stays due.
func (w *wall) wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.asked.Done():
	case <-ctx.Done():
	}
	return false
}

// countHops counts the exchanges of a visit before the last one.
func (c *Crawler) countHops(h *host, w *wall) {
	for _, x := range w.exchanges {
		c.meter.exchange(x)
		h.pace.observe(&c.opts.Politeness, x, c.rng)
	}
}

// learnWall learns from a visit about walls.
func (h *host) learnWall(w *wall) {
	switch {
	case !w.left:
	case w.returned:
		h.detours, h.dirty = -1, true // for good
	case h.detours >= 0:
		h.detours++
		h.dirty = true
	}
}
