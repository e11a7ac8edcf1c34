package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/crawler/robots"
	"github.com/webindexer/indexer/page"
)

// requestKind is the purpose of a request.
type requestKind uint8

const (
	robotsRequest requestKind = iota
	auxRequest                // a sitemap, a feed, a probe
	jobRequest
)

func (k requestKind) String() string {
	return [...]string{"robots.txt", "sitemap, feed or probe", "page"}[k]
}

// request is the next request to a host.
type request struct {
	kind requestKind
	url  page.URL // usually on the host; a robots.txt may redirect to another one
	job  Job
	aux  auxiliary
}

// exchange is what politeness and statistics need to know about a finished request.
type exchange struct {
	url         page.URL
	start, end  time.Time // end-start is without the time for which the request waited for memory
	status      int
	class       fetch.Class
	err         string // for a class other than OK
	noTunnel    bool   // the proxy did not connect to the host
	againstHost bool
	retryAfter  time.Duration
	addr        netip.Addr
	bytes       int64
}

func exchangeOf(u page.URL, start, end time.Time, r *fetch.Result) exchange {
	return exchange{
		url: u, start: start.Add(r.Timings.Waited), end: end, status: r.Fetch.Status, class: r.Class, err: r.Fetch.Err, noTunnel: errors.Is(r.Cause, fetch.ErrNoTunnel),
		againstHost: r.CountsAgainstHost(), retryAfter: r.RetryAfter,
		addr: r.RemoteAddr.Addr(), bytes: int64(len(r.HeaderBlock) + len(r.Payload)),
	}
}

// nextRequest returns the next request to the host. If there is none it returns nil and
// until when the host must not be asked, or the zero time if there is nothing to ask.
func (c *Crawler) nextRequest(h *host, now time.Time) (r *request, until time.Time) {
	if h.policy.Due(now) {
		u, err := h.robotsURL()
		if h.policy.Verdict == robots.Follow {
			u = h.policy.Next
		} else if err != nil { // the key comes from a URL; see HostOf
			h.jobs.ready, h.aux.queue = nil, nil
			c.opts.Log.Error("the frontier lists an invalid host: " + err.Error())
			return nil, time.Time{}
		}
		return &request{kind: robotsRequest, url: u}, time.Time{}
	}
	if !h.obeysRules() {
		return nil, h.policy.Until
	}
	if jobs, _ := h.mayRequest(now); jobs {
		c.probeIfDue(h, now)
	}
	jobs, files := h.mayRequest(now)
	switch {
	case files && (!jobs || h.probeNext() || h.aux.turn && !c.tooMany(h, &h.aux.queue[0], now)):
		s := h.aux.queue[0]
		return &request{kind: auxRequest, url: s.url, aux: s}, time.Time{}
	case jobs:
		j := h.jobs.ready[0]
		return &request{kind: jobRequest, url: j.URL, job: j}, time.Time{}
	}
	return nil, time.Time{}
}

// task makes a request. It also returns how to apply what it has learned. What it fetches is
// in memory of the reservation, which is released when the task has ended.
type task func(context.Context, *fetch.Reservation) (x exchange, apply func(now time.Time), err error)

// send starts the request; its slots have been acquired.
func (c *Crawler) send(h *host, r *request, slots []*slot) {
	c.cancelQuiesce()
	var do task
	switch r.kind {
	case robotsRequest:
		h.robotsBusy = true
		do = c.fetchRobots(h, r.url)
	case auxRequest:
		h.aux.take()
		do = c.fetchAux(h, r.aux)
	default:
		h.jobs.take()
		h.aux.turn = true
		do = c.visit(h, r.job)
		c.meter.jobs++
	}
	c.start(func(ctx context.Context) func() error {
		memory := c.bodies.Reserve()
		defer memory.Release()
		x, apply, err := do(ctx, memory)
		if err == nil && x.class == fetch.Canceled && ctx.Err() == nil && c.asked.Err() == nil {
			err = errFetcherClosed
		}
		return func() error {
			now := time.Now()
			if r.kind == jobRequest {
				c.meter.jobs--
				c.meter.pageBytes += x.bytes
			}
			apply(now) // first, because the delay depends on what it learns
			c.finish(x, slots, now)
			c.push(h, now)
			if err != nil {
				return fmt.Errorf("crawler: %s: %w", r.url, err)
			}
			return nil
		}
	})
}

var errFetcherClosed = errors.New("the fetcher gave up the request without being asked to; is it closed?")

// finish learns from the exchange and releases the slots, which open again after the
// delay.
func (c *Crawler) finish(x exchange, slots []*slot, now time.Time) {
	defer c.release(slots, now)
	c.quiescent = false
	if x.class == fetch.Canceled {
		return
	}
	c.meter.exchange(x)
	o := &c.opts.Politeness
	p := &pace{} // for a host that is not in memory: the usual delay
	if of := c.hosts[HostOf(x.url)]; of != nil {
		p = &of.pace
		asked := p.asked
		p.observe(o, x, c.rng)
		c.noteAnswer(of, x)
		of.dirty = true
		of.urgent = of.urgent || !p.asked.Equal(asked)
		if x.addr.IsValid() && x.addr != of.addr {
			of.addr, of.urgent = x.addr, true
		}
	}
	ready := x.end.Add(p.delay(o))
	for _, s := range slots {
		if s.spacing == 0 {
			s.delayUntil(ready)
		}
	}
	if x.addr.IsValid() && o.PerIP > 0 {
		c.addressSlot(x.addr).delayUntil(ready) // the address may be new
	}
}

// record passes an exchange to the recorder.
func (c *Crawler) record(ctx context.Context, u page.URL, r *fetch.Result) error {
	if c.recorder == nil {
		return nil
	}
	if err := c.recorder.Record(ctx, u, r); err != nil {
		return fmt.Errorf("record the exchange: %w", err)
	}
	return nil
}
