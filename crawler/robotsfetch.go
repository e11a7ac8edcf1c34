package crawler

import (
	"context"
	"fmt"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/crawler/robots"
	"github.com/webindexer/indexer/page"
)

// refusedRetry is how long to wait before asking again for the robots.txt of a host
// whose address must not be contacted.
const refusedRetry = time.Hour

// longestRobots is how many bytes of a robots.txt are requested, so that an archive has all of
// nearly every one. Only robots.DefaultMaxBytes of them count.
const longestRobots = 1 << 20

// fetchRobots requests u, the host's robots.txt or the target of its redirect. A fetch
// of the host's own URL is recorded and loaded. The target of a redirect is not: it may
// be any page, and its own robots.txt was not asked.
func (c *Crawler) fetchRobots(h *host, u page.URL) task {
	prev, bare := h.policy, c.bare[h.key]
	own := HostOf(u) == h.key && u.IsRobotsTxt()
	if prev.Verdict != robots.Follow || h.robotsCookies == nil {
		h.robotsCookies = fetch.NewCookies()
	}
	req := fetch.Request{URL: u, Cookies: h.robotsCookies, MaxBody: longestRobots, Enough: robots.DefaultMaxBytes + 1}
	if prev.Verdict != robots.Follow && prev.Copy != nil {
		req.ETag, req.LastModified = prev.Copy.ETag, prev.Copy.LastModified
	}
	return func(ctx context.Context, memory *fetch.Reservation) (exchange, func(time.Time), error) {
		res, x := c.exchange(ctx, req, memory)
		if x.class == fetch.Canceled {
			return x, func(time.Time) { h.robotsBusy = false }, nil
		}
		policy := robots.Decide(prev, readAsFar(&res))
		if x.class == fetch.RefusedAddress {
			policy.Until = x.end.Add(refusedRetry)
		}
		var err error
		if own {
			err = c.loadOther(ctx, u, &res)
		}
		if err == nil && isUnreachable(x) {
			err = c.tryHTTP(ctx, bare, x)
		}
		if err != nil { // robots.txt stays due, and everything is done again
			return x, func(time.Time) { h.robotsBusy = false }, err
		}
		group, sitemaps, ok := c.compile(h, &policy) // last, because it gives up the room of prev
		return x, func(now time.Time) {
			h.robotsBusy = false
			if !ok {
				h.policy, h.rulesMissing, h.dirty = policy, true, true
				return
			}
			h.aux.announced = sitemaps
			c.learnRobots(h, policy, group, x, now)
		}, nil
	}
}

// readAsFar returns the fetch of a robots.txt. One that is too long or too slow to be read
// to its end counts as read if the part that is parsed has come (RFC 9309 section 2.5).
func readAsFar(res *fetch.Result) page.Fetch {
	f := res.Fetch
	if res.Head != nil {
		f.Err, f.Body = "", res.Head
	}
	return f
}

// exchange makes one request.
func (c *Crawler) exchange(ctx context.Context, req fetch.Request, memory *fetch.Reservation) (fetch.Result, exchange) {
	req.Reservation = memory
	start := time.Now()
	res := notMade(req.URL, start)
	if !c.lost() {
		res = c.fetcher.Fetch(ctx, req)
	}
	return res, exchangeOf(req.URL, start, time.Now(), &res)
}

// loadOther records and loads a fetch that belongs to no job.
func (c *Crawler) loadOther(ctx context.Context, u page.URL, res *fetch.Result) error {
	if c.opts.Loaded == nil {
		return nil
	}
	if err := c.record(ctx, u, res); err != nil {
		return err
	}
	if err := c.opts.Loaded(ctx, res.Fetch); err != nil {
		return fmt.Errorf("load robots.txt: %w", err)
	}
	return nil
}

// learnRobots puts a fetched policy in force and has it stored.
func (c *Crawler) learnRobots(h *host, policy robots.Policy, group *robots.Group, x exchange, now time.Time) {
	h.policy, h.group = policy, group
	if policy.Verdict == robots.Follow {
		return
	}
	h.robotsCookies = nil
	h.dirty, h.urgent = true, true
	h.decideAgain()
	h.holdRules()
	if policy.Failures == 0 {
		h.pace.crawlDelay, _ = group.CrawlDelay()
		c.beginPass(h, now)
	}
	if bare := c.bare[h.key]; len(bare) > 0 && isUnreachable(x) {
		delete(c.bare, h.key)
		h.plain = HostOf(bare[0].URL)
	}
}

// isUnreachable reports whether a host does not answer, and may answer with another scheme.
func isUnreachable(x exchange) bool {
	switch x.class {
	case fetch.Connect, fetch.TLS, fetch.Timeout, fetch.Reset, fetch.BadResponse:
		return x.status == 0
	}
	return x.noTunnel
}

// tryHTTP adds a host's bare seeds with http, because https cannot be reached. The request
// for robots.txt, which comes first, shows that.
func (c *Crawler) tryHTTP(ctx context.Context, bare []Found, x exchange) error {
	if len(bare) == 0 {
		return nil
	}
	source := fmt.Sprintf("seed; https cannot be reached (%s)", x.class)
	if _, err := c.frontier.Add(ctx, Finding{URLs: bare, Source: source}); err != nil {
		return fmt.Errorf("add the seeds of the host with http: %w", err)
	}
	return nil
}
