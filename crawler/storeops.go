package crawler

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/webindexer/indexer/page"
)

// A host has at most one store operation at a time, named in host.op. Each ends by
// pushing the host, so that the scheduler checks the host again.

func (c *Crawler) operate(h *host, op string, do func(ctx context.Context) (done func(now time.Time), err error)) {
	h.op = op
	if h.requests() == 0 && h.state != stateIdle {
		h.state, h.why = stateStore, op
	}
	c.start(func(ctx context.Context) func() error {
		done, err := do(ctx)
		return func() error {
			h.op = ""
			now := time.Now()
			if err != nil {
				c.pushAfterFailure(h, now)
				return fmt.Errorf("crawler: host %s: %s: %w", h.key, op, err)
			}
			done(now)
			c.push(h, now)
			return nil
		}
	})
}

// pushAfterFailure matters only if the crawl pauses rather than ends.
func (c *Crawler) pushAfterFailure(h *host, now time.Time) {
	h.jobs.reading = false
	h.dirty, h.urgent = true, true // the operation may have been save
	c.push(h, now.Add(pollInterval))
}

// loadHost reads the state that an earlier run, or an earlier stay in memory, stored.
func (c *Crawler) loadHost(h *host) {
	c.operate(h, "load state", func(ctx context.Context) (func(time.Time), error) {
		raw, err := c.frontier.LoadHost(ctx, h.key)
		if err != nil {
			return nil, err
		}
		state, problem := DecodeHost(raw)
		group, sitemaps, ok := c.compile(h, &state.Robots)
		if !ok {
			return func(now time.Time) { c.lineUp(h, rulesSize(&state.Robots), now) }, nil
		}
		if delay, asked := group.CrawlDelay(); asked { // there may have been no room to learn it before
			state.CrawlDelay = delay
		}
		if !state.Address.IsValid() {
			state.Address = c.locate(ctx, h.key)
		}
		return func(now time.Time) {
			if problem != nil {
				c.opts.Log.Warn("the stored state of " + h.key + " cannot be read and is learned again: " + problem.Error())
			}
			state.mendTimes(now, c.session(), &c.opts.Politeness)
			h.restore(state, group, c.session())
			h.aux.announced, h.marked = sitemaps, len(raw) > 0
			c.resume(h, now)
			if !h.aux.read.IsZero() { // otherwise when the first jobs have been read
				c.beginPass(h, now)
			}
		}, nil
	})
}

// resume keeps the first request of this run apart from the last one of an earlier run,
// which may have been killed a moment ago. This includes hosts that were never asked: they may
// share an address with one that was. In a crawl of several it keeps the first
// request to the host, its address and its domain apart from the last one of the crawler
// that had the partition before.
func (c *Crawler) resume(h *host, now time.Time) {
	u, err := h.robotsURL()
	if err != nil || !h.stored && !c.opts.Continues && c.shared == nil {
		return
	}
	since := c.gained(h)
	start := since.Add(h.pace.delay(&c.opts.Politeness))
	if !start.After(now) {
		return
	}
	for _, s := range c.slotsOf(u) {
		switch {
		case s.spacing == 0:
			s.delayUntil(start)
		case c.shared != nil:
			s.delayUntil(since.Add(s.spacing))
		}
	}
}

func (c *Crawler) save(h *host) {
	h.dirty, h.urgent = false, false
	c.operate(h, "store state", func(ctx context.Context) (func(time.Time), error) {
		return func(time.Time) { h.marked = true }, c.store(ctx, h)
	})
}

// store writes the state that a host has at that moment. It is called without mu. It makes two
// writes of one host one after the other: an older state must not replace a newer one.
func (c *Crawler) store(ctx context.Context, h *host) error {
	select {
	case h.storing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.storing }()
	c.mu.Lock()
	raw, feeds := h.encode(), len(h.aux.feeds)
	c.mu.Unlock()
	if err := c.frontier.SaveHost(ctx, h.key, raw); err != nil {
		return err
	}
	c.mu.Lock()
	h.aux.stored = feeds
	c.mu.Unlock()
	return nil
}

// refill reads jobs.
func (c *Crawler) refill(h *host) {
	n := max(c.opts.Memory.Buffer, 4*c.lowWater())
	ask := n + len(h.jobs.ready) + len(h.jobs.inFlight)
	h.jobs.reading, h.jobs.again, h.jobs.finished = true, false, nil
	if h.state == stateIdle {
		h.state = stateStore
	}
	c.operate(h, "read jobs", func(ctx context.Context) (func(time.Time), error) {
		// Ask for the room first: a visit that ends between the two reads is then
		// subtracted twice, and not forgotten.
		room, err := c.frontier.Room(ctx, h.key)
		if err != nil {
			return nil, err
		}
		jobs, next, err := c.frontier.Due(ctx, h.key, time.Now(), ask)
		return func(now time.Time) {
			h.jobs.fill(jobs, ask, next, now, room)
			h.seeded = h.seeded || slices.ContainsFunc(jobs, func(j Job) bool { return j.Depth == 0 })
			h.learnUses(jobs)
			c.beginPass(h, now)
		}, err
	})
}

// locate returns the address of a host that was never asked. If that fails it returns
// the zero address; the request will report the reason.
func (c *Crawler) locate(ctx context.Context, key string) netip.Addr {
	l, ok := c.fetcher.(Locator)
	u, err := page.ParseURL(key + "/")
	if !ok || err != nil || c.opts.Politeness.PerIP <= 0 {
		return netip.Addr{}
	}
	addr, err := l.Locate(ctx, u)
	if err != nil {
		return netip.Addr{}
	}
	return addr
}
