package crawler

import (
	"container/heap"
	"time"
)

// The scheduler visits hosts in the order of the times at which there may be something
// to do for them. For each host it does the first of these that applies (advance):
//
//	its state is not loaded           load it, when there is room for its rules
//	it had its turn, others wait      evict it for now
//	jobs and files wait for that      ask robots.txt about them
//	the frontier may have jobs        read some
//	jobs that robots.txt disallows    refuse them
//	the rules have changed            check known URLs against them, some at a time
//	pages turn out to be soft 404s    take them back
//	robots.txt is not known or old    request it (nothing else before that)
//	sitemaps, feeds, a probe, jobs    request one; files and jobs take turns
//	nothing                           keep it for a while, then evict it
//
// A request starts only when the host need not be left alone (pace) and all its slots
// are available (slot). The order of the first seven does not matter for politeness: they
// send nothing to the host.

// hostState is what a host is waiting for.
type hostState uint8

const (
	stateStore      hostState = iota // the store: its state, its jobs
	stateActive                      // a request is under way
	statePoliteness                  // the delay, or hosts that share its address or domain
	stateRobots                      // robots.txt cannot be reached
	stateBackoff                     // it failed or asked to be left alone
	stateIdle                        // no job is due
)

var stateNames = [...]string{"store", "active", "politeness", "robots", "backoff", "idle"}

func (s hostState) String() string { return stateNames[s] }

// dispatch starts everything that can start now.
func (c *Crawler) dispatch(now time.Time) {
	for c.mayStart() && c.heap.Len() > 0 && !c.heap.items[0].at.After(now) {
		c.advance(heap.Pop(&c.heap).(*host), now)
	}
}

// advance does the next thing for a host. The caller has taken the host out of the
// heap; advance, or what it starts, pushes it again.
func (c *Crawler) advance(h *host, now time.Time) {
	if s := h.granted; s != nil {
		h.granted, s.granted = nil, nil
		defer func() { c.grant(s, now) }()
	}
	if c.leaves(h) {
		return // to depart
	}
	if !h.loaded {
		switch {
		case h.rulesWanted > 0:
			c.waitForRules(h, now)
		case h.op == "":
			c.loadHost(h)
		}
		return
	}
	if h.rulesMissing {
		c.leaveWithoutRules(h)
		return
	}
	if c.rotate(h) {
		return
	}
	c.housekeep(h, now)
	if c.running >= c.opts.Concurrency {
		c.push(h, now)
		return
	}
	switch {
	case h.requests() >= c.perHost(h) || h.robotsBusy:
		h.state = stateActive
	case h.hasWork(now):
		c.request(h, now)
	case h.busy():
		h.state = stateStore
	default:
		c.idle(h, now)
	}
}

// housekeep starts at most one store operation for the host.
func (c *Crawler) housekeep(h *host, now time.Time) {
	if h.aux.passDue(now) {
		c.beginPass(h, now)
	}
	switch {
	case h.op != "":
	case h.mustFilter(now):
		c.filter(h)
	case h.urgent:
		c.save(h)
	case len(h.jobs.refused) > 0:
		c.refuse(h)
	case h.needsRefill(now, c.lowWater()):
		c.refill(h)
	case h.mayRecheck():
		c.recheckKnown(h)
	default:
		if suspects := h.toTakeBack(); len(suspects) > 0 {
			c.takeBack(h, suspects)
		}
	}
}

// lowWater is the number of remaining jobs at which more are read: 0, so that the best
// are always taken, or, with several requests at a time, enough to keep them all busy.
func (c *Crawler) lowWater() int {
	if c.opts.Politeness.PerHost > 1 {
		return 2 * c.opts.Politeness.PerHost
	}
	return 0
}

// request starts a request, or makes the host wait for what prevents it.
//
// It stores the host before its first request ever: if this run is killed, the next one
// must know that the host was asked a moment ago (see resume).
func (c *Crawler) request(h *host, now time.Time) {
	if !h.marked {
		if h.op == "" {
			c.save(h)
		}
		return
	}
	r, until := c.nextRequest(h, now)
	if r == nil && until.IsZero() {
		c.push(h, now) // the work was dropped; look again
		return
	}
	alone, why := c.aloneUntil(h, r)
	switch {
	case r == nil && until.After(alone):
		c.leaveAlone(h, stateRobots, h.policy.Why, until, now)
		return
	case alone.After(now):
		c.leaveAlone(h, stateBackoff, why, alone, now)
		return
	}
	if c.tooMany(h, &r.aux, now) {
		h.state, h.why = statePoliteness, largeKey
		c.push(h, now.Add(largeRetry))
		return
	}
	slots := c.slotsOf(r.url)
	if r.aux.large {
		slots = append(slots, c.largeSlot())
	}
	if !c.acquire(h, slots, now) {
		h.state, h.why = statePoliteness, h.blockedBy().key
		return
	}
	h.state, h.why = stateActive, r.kind.String()
	h.turn++
	c.send(h, r, slots)
	if h.requests() < c.perHost(h) {
		c.push(h, now)
	}
}

// aloneUntil returns until when, and why, a host must not be asked, nor the one to which its
// robots.txt redirects, as far as that is known.
func (c *Crawler) aloneUntil(h *host, r *request) (until time.Time, why string) {
	until, why = h.pace.until, h.pace.why
	if r == nil {
		return until, why
	}
	if to := c.hosts[HostOf(r.url)]; to != nil && to.pace.until.After(until) {
		return to.pace.until, HostOf(r.url) + ", to which its robots.txt redirects: " + to.pace.why
	}
	return until, why
}

// leaveAlone makes the host wait, in memory if there is room.
func (c *Crawler) leaveAlone(h *host, state hostState, why string, until, now time.Time) {
	h.state, h.why = state, why
	if c.makesWay(h) && !h.busy() && until.Sub(now) > c.opts.Memory.IdleTime {
		h.jobs = newJobBuffer()
		h.jobs.exhausted, h.jobs.next = true, until
		h.giveUpAux() // the next stay finds them again
		c.evict(h)
		return
	}
	c.push(h, until)
}

// blockedBy returns the slot that a host waits for.
func (h *host) blockedBy() *slot {
	if h.waitsFor != nil {
		return h.waitsFor
	}
	return h.granted
}

// push adds a host to the heap, or moves it forward there. It does nothing for a host
// that waits for a slot, which will wake it.
func (c *Crawler) push(h *host, at time.Time) {
	if h.waitsFor != nil || c.hosts[h.key] != h {
		return
	}
	if h.rulesMissing {
		at = time.Time{} // it leaves before others get a robots.txt
	}
	if h.index >= 0 {
		if at.Before(h.at) {
			h.at = at
			heap.Fix(&c.heap, h.index)
		}
		return
	}
	c.pushes++
	h.at, h.seq = at, c.pushes
	heap.Push(&c.heap, h)
}

// sooner orders hosts by time.
func sooner(a, b *host) bool {
	if !a.at.Equal(b.at) {
		return a.at.Before(b.at)
	}
	return a.seq < b.seq
}
