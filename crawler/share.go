package crawler

import (
	"container/heap"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/crawler/partition"
	"github.com/webindexer/indexer/page"
)

// Several crawlers may work on one frontier. Each then asks only the hosts of its
// partitions (package partition). An implementation of Share decides which these are,
// and calls Gain and Release. Without Options.Share all hosts belong to this crawler,
// and nothing in this file runs.
//
// No two crawlers ask a host at once, or too soon after each other:
//
//  1. A partition that was released is given to another crawler after Released has
//     returned it. By then no request to one of its hosts is under way or will be made,
//     and the state of its hosts is stored.
//  2. A partition of a crawler that is dead is given to another one when Share.Valid
//     fails in the dead one, if it still runs. No request begins then (exchange), and
//     none is sent on a connection that was being made (fetch.Options.Guard).
//  3. A crawler that gains a partition leaves each of its hosts alone for the host's
//     whole delay from that moment on (resume). The last request of the former owner
//     ended before, or its owner is dead, whatever the clocks of the machines say. Until
//     when a host has asked to be left alone, and why it failed, is in its stored state.
//
// Two requests go to hosts that may belong to others. A robots.txt that redirects to
// another site is read there, up to five hops, once a day: without it, nothing of the
// host could be fetched. And hosts of different domains that share an address may be in
// partitions of different crawlers, each of which keeps the limits of addresses for
// itself.

// Share is a crawler's part in a crawl of several.
type Share interface {
	// Valid returns nil while no other crawler may have taken partitions of this one.
	Valid() error
	// Since is when the first of the crawlers that are alive began.
	Since() time.Time
	// SetIdle tells the others whether this crawler has nothing to do.
	SetIdle(ctx context.Context, idle bool) error
	// Finished reports whether all crawlers are idle, and no pending work could produce
	// new URLs.
	Finished(ctx context.Context) (bool, error)
	// Forward hands a file that is on a host of another crawler to that crawler, which
	// receives it through Accept.
	Forward(ctx context.Context, host string, u page.URL, file []byte) error
}

// finishedEvery is how often an idle crawler asks whether the crawl is finished.
const finishedEvery = time.Second

// shared is a crawler's state in a crawl of several.
type shared struct {
	Share
	parts [partition.Count]part

	idle    bool // as the others were told
	ops     int  // calls of SetIdle and Finished under way; they are not work
	askAt   time.Time
	nothing bool // nothing has happened since Finished was called

	forwards   []auxiliary // files to hand to other crawlers
	forwarding bool        // files are being handed over
}

// part is one partition.
type part struct {
	held    bool
	leaving bool      // it was released, and hosts of it are in memory
	since   time.Time // when it was gained
	hosts   int       // in memory
}

// held counts the partitions that the crawler has.
func (s *shared) held() (n int) {
	if s == nil {
		return 0
	}
	for i := range s.parts {
		if s.parts[i].held {
			n++
		}
	}
	return n
}

// Gain lets the crawler ask the hosts of more partitions.
func (c *Crawler) Gain(parts []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for _, p := range parts {
		c.shared.parts[p] = part{held: true, since: now}
	}
	c.sweep.wanted = true
	c.happened()
}

// Release makes the crawler give up partitions as soon as the requests under way have
// ended; see Released.
func (c *Crawler) Release(parts []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range parts {
		if s := &c.shared.parts[p]; s.held {
			s.leaving = true
		}
	}
	c.waiting.drop(c.owns)
	for _, key := range c.parked.keys() {
		if !c.owns(key) {
			c.parked.remove(key)
		}
	}
	c.happened()
}

// Released returns the released partitions for which this crawler has finished all
// work. It returns each once.
func (c *Crawler) Released() (parts []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.shared.parts {
		if p := &c.shared.parts[i]; p.leaving && p.hosts == 0 {
			*p = part{}
			parts = append(parts, i)
		}
	}
	if len(parts) > 0 {
		c.happened() // it may be idle now
	}
	return parts
}

// Accept takes a file that another crawler has forwarded.
func (c *Crawler) Accept(file []byte) error {
	var f forwarded
	if err := json.Unmarshal(file, &f); err != nil {
		return fmt.Errorf("crawler: a forwarded sitemap or feed: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.owns(HostOf(f.URL)) { // otherwise the next pass has it
		c.queueAux(f.auxiliary(), time.Now())
	}
	c.happened()
	return nil
}

// Fail ends the crawl with an error at once: requests under way are given up.
func (c *Crawler) Fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fail(err)
	if c.abort != nil {
		c.abort()
	}
	c.happened()
}

// happened makes the scheduler look. mu is held.
func (c *Crawler) happened() {
	c.quiescent = false
	if c.shared != nil {
		c.shared.nothing = false
	}
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// owns reports whether this crawler may begin to ask a host.
func (c *Crawler) owns(key string) bool {
	if c.shared == nil {
		return true
	}
	p := &c.shared.parts[partition.Of(key)]
	return p.held && !p.leaving
}

// leaves reports whether a host will leave memory because its partition was released.
func (c *Crawler) leaves(h *host) bool { return c.shared != nil && c.shared.parts[h.part].leaving }

// gained is when the crawler began to ask hosts of the host's partition.
func (c *Crawler) gained(h *host) time.Time {
	if c.shared == nil {
		return c.started
	}
	return c.shared.parts[h.part].since
}

// session is when the crawl began: in this process, or in the first of those alive.
func (c *Crawler) session() time.Time {
	if c.shared == nil {
		return c.started
	}
	if since := c.shared.Since(); since.Before(c.started) {
		return since
	}
	return c.started
}

// depart removes the hosts of released partitions from memory, each after what is under
// way for it has ended and its state is stored.
func (c *Crawler) depart(now time.Time) {
	if c.shared == nil {
		return
	}
	for _, h := range c.hosts {
		if !c.leaves(h) || h.busy() {
			continue
		}
		c.outOfLine(h, now)
		switch {
		case !h.loaded || !h.dirty:
			c.forget(h)
		case c.running < c.opts.Concurrency:
			c.save(h)
		}
	}
}

// outOfLine removes a host from every queue in which it waits.
func (c *Crawler) outOfLine(h *host, now time.Time) {
	if s := h.granted; s != nil {
		h.granted, s.granted = nil, nil
		c.grant(s, now)
	}
	if s := h.waitsFor; s != nil {
		h.waitsFor = nil
		heap.Remove(&s.waiters, h.waitIndex)
	}
	if h.index >= 0 {
		heap.Remove(&c.heap, h.index)
	}
}

// departing reports whether a partition that was released has hosts in memory.
func (c *Crawler) departing() bool {
	if c.shared == nil {
		return false
	}
	for i := range c.shared.parts {
		if c.shared.parts[i].leaving {
			return true
		}
	}
	return false
}

// settle is quiesce for one of several crawlers. While this crawler has nothing to do,
// others may find URLs for it. So it tells them that it is idle, and ends when all are
// idle and no work is pending.
//
// The others need not know exactly when this crawler stops being idle. Should they end
// too early, their partitions come to this one, which continues alone: the last crawler
// ends only if it has nothing to do itself.
func (c *Crawler) settle(now time.Time) {
	s := c.shared
	idle := c.running == s.ops && c.paused == "" && !c.pending(now)
	switch {
	case s.ops > 0:
	case idle != s.idle:
		c.startShared(func(ctx context.Context) (func(), error) {
			return func() { s.idle = idle }, s.SetIdle(ctx, idle)
		})
	case idle && !c.opts.Follow && !now.Before(s.askAt):
		s.nothing = true
		c.startShared(func(ctx context.Context) (func(), error) {
			finished, err := s.Finished(ctx)
			return func() {
				s.askAt = time.Now().Add(finishedEvery)
				if finished && s.nothing && c.running == 0 && !c.pending(time.Now()) {
					c.stop(EndedIdle)
				}
			}, err
		})
	}
}

// startShared runs a call of Share.
func (c *Crawler) startShared(do func(ctx context.Context) (done func(), err error)) {
	c.shared.ops++
	c.quiescing = true
	c.start(func(ctx context.Context) func() error {
		done, err := do(ctx)
		return func() error {
			c.shared.ops--
			c.quiescing = false
			if err != nil {
				return fmt.Errorf("crawler: ask whether the others have finished: %w", err)
			}
			done()
			return nil
		}
	})
}

// lost ends the crawl if others may have taken this crawler's partitions.
func (c *Crawler) lost() bool {
	if c.shared == nil {
		return false
	}
	err := c.shared.Valid()
	if err != nil {
		c.Fail(fmt.Errorf("crawler: other crawlers may consider this one dead: %w", err))
	}
	return err != nil
}

// notMade is the result of a request that was not made.
func notMade(u page.URL, at time.Time) fetch.Result {
	return fetch.Result{Class: fetch.Canceled, Fetch: page.Fetch{URL: u, Time: at.Round(0).UTC(), Err: "canceled: the crawl has ended"}}
}

// forwarded is the form in which a sitemap or feed is handed to another crawler. It may
// bring no visits forward: the announcer's claims are with the crawler that has its host.
type forwarded struct {
	Kind      auxKind  `json:"kind"`
	URL       page.URL `json:"url"`
	Named     page.URL `json:"named,omitempty"`
	Announcer string   `json:"announcer"`
	Depth     int      `json:"depth,omitempty"`
	Hops      int      `json:"hops,omitempty"`
}

func (f *forwarded) auxiliary() auxiliary {
	return auxiliary{kind: f.Kind, url: f.URL, named: f.Named, announcer: f.Announcer, depth: f.Depth, hops: f.Hops}
}

// forward hands a sitemap or feed to the crawler that asks its host. One goroutine at a time does
// so: a single index may list a hundred files.
func (c *Crawler) forward(a auxiliary) {
	s := c.shared
	s.forwards = append(s.forwards, a)
	if !s.forwarding {
		c.forwardAll()
	}
}

func (c *Crawler) forwardAll() {
	s := c.shared
	files := s.forwards
	s.forwards, s.forwarding = nil, true
	c.start(func(ctx context.Context) func() error {
		var failed error // the first: the others most likely failed for the same reason
		for i := range files {
			if err := s.forward(ctx, &files[i]); err != nil && failed == nil {
				failed = fmt.Errorf("crawler: forward %s: %w", files[i].url, err)
			}
		}
		return func() error {
			if s.forwarding = false; len(s.forwards) > 0 {
				c.forwardAll()
			}
			return failed
		}
	})
}

func (s *shared) forward(ctx context.Context, a *auxiliary) error {
	file, err := json.Marshal(forwarded{Kind: a.kind, URL: a.url, Named: a.named, Announcer: a.announcer, Depth: a.depth, Hops: a.hops})
	if err != nil {
		return err
	}
	return s.Forward(ctx, HostOf(a.url), a.url, file)
}
