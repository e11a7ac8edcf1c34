package crawler

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/webindexer/indexer/crawler/partition"
)

// Memory has Memory.Hosts places for hosts. Hosts that want one wait in one line
// (waitingList), so that none starves:
//
//   1. hosts that were woken;
//   2. parked hosts with a job that has become due (parkedHosts);
//   3. hosts that had their turn, Memory.Turn requests, and made room for others;
//   4. hosts found by listing those of the frontier (sweep): at the start, and whenever
//      the line or the list of parked hosts was full and had to leave one out.
//
// So each host with due jobs gets its turn, though no list holds them all.

// sweep is a pass over the hosts of the frontier.
type sweep struct {
	wanted bool // start one when the current one, if any, is over
	active bool
	busy   bool   // reading a part of the list
	after  string // how far it has come
	// at is when a sweep is needed because a host becomes due for which the list of
	// parked hosts had no room; zero if no sweep is needed. ended is when the last
	// sweep was over.
	at, ended time.Time
}

// sweepInterval is the least time between two sweeps for the sake of parked hosts.
const sweepInterval = time.Minute

// need schedules a sweep at the time at.
func (s *sweep) need(at time.Time) {
	if soonest := s.ended.Add(sweepInterval); at.Before(soonest) {
		at = soonest
	}
	if s.at.IsZero() || at.Before(s.at) {
		s.at = at
	}
}

func (s *sweep) due(now time.Time) bool { return !s.at.IsZero() && !s.at.After(now) }

// sweepSize is how many hosts are listed at a time.
const sweepSize = 256

func (s *sweep) unfinished() bool { return s.wanted || s.active }

// enlist fills the free places.
func (c *Crawler) enlist(now time.Time) {
	c.takeWoken(now)
	for c.parked.due(now) && c.waiting.room() > 0 {
		c.await(c.parked.take())
	}
	if c.sweep.due(now) {
		c.sweep.wanted, c.sweep.at = true, time.Time{}
	}
	for c.room() > 0 && c.waiting.len() > 0 {
		c.activate(c.waiting.take(), now)
	}
	if c.waiting.len() < sweepSize/2 && c.waiting.room() > 0 && c.sweep.unfinished() && !c.sweep.busy && c.paused == "" {
		c.list(min(sweepSize, c.waiting.room()))
	}
	c.makeRoom(now)
}

// takeWoken schedules the woken hosts. If there were too many to remember, it schedules
// all hosts in memory and starts a sweep to find the rest.
func (c *Crawler) takeWoken(now time.Time) {
	if c.wokenAll {
		c.wokenAll, c.sweep.wanted = false, true
		for key := range c.hosts {
			c.woken[key] = true
		}
		for _, key := range c.parked.keys() {
			c.parked.remove(key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(c.woken)) {
		delete(c.woken, key)
		if !c.owns(key) {
			continue
		}
		if h := c.hosts[key]; h != nil {
			h.jobs.wake()
			c.push(h, now)
			continue
		}
		c.parked.remove(key)
		c.await(key)
	}
}

func (c *Crawler) room() int { return c.opts.Memory.Hosts - len(c.hosts) }

// await puts a host on the list of those that wait for a place.
func (c *Crawler) await(key string) {
	if !c.waiting.add(key) {
		c.sweep.wanted = true
	}
}

// makeRoom schedules the hosts that do not need their places, if other hosts want them.
func (c *Crawler) makeRoom(now time.Time) {
	was := c.crowded
	c.crowded = c.room() <= 0 && c.waiting.len() > 0
	if !c.crowded || was {
		return
	}
	c.pushIdle(now)
}

// pushIdle schedules the hosts that wait for nothing but time.
func (c *Crawler) pushIdle(now time.Time) {
	for _, h := range c.hosts {
		switch h.state {
		case stateIdle, stateBackoff, stateRobots:
			c.push(h, now)
		}
	}
}

// activate gives a host a place in memory.
func (c *Crawler) activate(key string, now time.Time) *host {
	h := c.hosts[key]
	if h == nil {
		h = newHost(key)
		h.aux.off = c.opts.Sources.NoSitemaps && c.opts.Sources.NoFeeds
		c.hosts[key] = h
		if c.shared != nil {
			h.part = partition.Of(key)
			c.shared.parts[h.part].hosts++
		}
	}
	c.parked.remove(key)
	c.push(h, now)
	return h
}

// list reads a part of the frontier's list of hosts.
func (c *Crawler) list(n int) {
	s := &c.sweep
	if !s.active {
		s.wanted, s.active, s.after = false, true, ""
	}
	s.busy = true
	after := s.after
	c.start(func(ctx context.Context) func() error {
		keys, err := c.frontier.Hosts(ctx, after, n)
		return func() error {
			s.busy = false
			if err != nil {
				return fmt.Errorf("crawler: list the hosts of the frontier: %w", err)
			}
			for _, key := range keys {
				if c.owns(key) && c.hosts[key] == nil && !c.parked.has(key) && !c.waiting.add(key) {
					return nil // the line is full; the sweep continues from here
				}
				s.after = key
			}
			if s.active = len(keys) == n; !s.active {
				s.ended = time.Now()
			}
			return nil
		}
	})
}

// rotate evicts a host that has had its turn, if another one waits. It forgets the jobs
// it read: the frontier has them. It does not interrupt a pass over sitemaps, which
// would start over.
func (c *Crawler) rotate(h *host) bool {
	if !c.makesWay(h) || h.turn < c.opts.Memory.Turn || h.busy() || len(h.aux.queue) > 0 {
		return false
	}
	h.jobs = newJobBuffer()
	c.evict(h)
	return true
}

// idle keeps a host that has nothing to do for a while, then evicts it.
func (c *Crawler) idle(h *host, now time.Time) {
	if h.state != stateIdle {
		h.state, h.why, h.idleSince = stateIdle, "", now
	}
	leave := h.idleSince.Add(c.opts.Memory.IdleTime)
	switch next := h.next(); {
	case c.makesWay(h) || !now.Before(leave):
		c.evict(h)
	case !next.IsZero() && next.Before(leave):
		c.push(h, next)
	default:
		c.push(h, leave)
	}
}

// evict removes a host from memory, after its state is stored.
func (c *Crawler) evict(h *host) {
	if h.dirty {
		c.save(h)
		return
	}
	c.forget(h)
	switch {
	case !h.jobs.exhausted:
		c.await(h.key)
	case !h.next().IsZero():
		if !c.parked.add(h.key, h.next()) {
			c.sweep.need(h.next())
		}
	}
}

// forget removes a host from memory.
func (c *Crawler) forget(h *host) {
	delete(c.hosts, h.key)
	c.dropRules(h)
	c.freed = true
	if c.shared != nil {
		c.shared.parts[h.part].hosts--
	}
}

// pending reports whether anything is due, or will be soon enough to wait for.
func (c *Crawler) pending(now time.Time) bool {
	if c.departing() || len(c.woken) > 0 || c.wokenAll || c.waiting.len() > 0 || c.sweep.unfinished() || c.parkedWaitedFor(now) || c.sweep.due(c.horizon(now)) {
		return true
	}
	for _, h := range c.hosts {
		if c.waitedFor(h, now) {
			return true
		}
	}
	return false
}

func (c *Crawler) horizon(now time.Time) time.Time { return now.Add(max(c.opts.MaxWait, 0)) }

func (c *Crawler) waitedFor(h *host, now time.Time) bool {
	switch h.state {
	case stateIdle:
		next := h.next()
		return h.busy() || h.hasWork(now) || !h.jobs.exhausted || !next.IsZero() && !next.After(c.horizonOf(h.key, now))
	case stateRobots, stateBackoff:
		return h.index < 0 || !h.at.After(c.horizonOf(h.key, now))
	}
	return true
}

// untilNext returns how long nothing will start without an event.
func (c *Crawler) untilNext(now time.Time) time.Duration {
	wait := forever
	at := func(t time.Time) { wait = min(wait, max(t.Sub(now), 0)) }
	if c.paused != "" {
		at(c.polledAt.Add(pollInterval))
	} else if c.mayStart() && c.heap.Len() > 0 {
		at(c.heap.items[0].at)
	}
	if t, ok := c.parked.first(); ok && c.waiting.room() > 0 {
		at(t)
	}
	if !c.sweep.at.IsZero() {
		at(c.sweep.at)
	}
	if s := c.shared; s != nil && s.idle && s.ops == 0 && !c.opts.Follow {
		at(s.askAt)
	}
	if limit := c.opts.Limits.Time; limit > 0 {
		at(c.started.Add(limit))
	}
	return wait
}
