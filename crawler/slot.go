package crawler

import (
	"container/heap"
	"net/netip"
	"time"

	"github.com/webindexer/indexer/page"
)

// slot is the right to make requests to one host, at one address, or in one registrable
// domain. A request takes all slots of its URL, or none.
//
// Hosts that share a slot take turns in the order of their tickets. A host gets its
// ticket when it first asks for slots, and keeps it until its request starts, wherever
// it has to wait meanwhile. So the host with the lowest ticket waits only for requests
// under way and for time, and no host starves.
//
// One waiting host at a time is woken (granted), once the slot is free and ready:
// waking all of them would cost the square of their number. The woken host tries for
// its slots and then, successful or not, passes the grant on (see Crawler.grant). A
// grant that is not passed on would block all other hosts for good.
type slot struct {
	key     string
	limit   int           // requests at a time; 0: no limit
	spacing time.Duration // between the starts of two requests; 0: the delay of the host; negative: none

	inUse   int
	granted *host
	ready   time.Time    // the next request starts no sooner
	waiters queue[*host] // by ticket
}

// open reports whether h may take the slot.
func (s *slot) open(h *host, now time.Time) bool {
	if s.limit > 0 && s.inUse >= s.limit || now.Before(s.ready) {
		return false
	}
	if s.granted != nil && s.granted != h && s.granted.ticket < h.ticket {
		return false
	}
	return s.waiters.Len() == 0 || s.waiters.items[0].ticket > h.ticket
}

func (s *slot) delayUntil(t time.Time) {
	if t.After(s.ready) {
		s.ready = t
	}
}

func (s *slot) unused(now time.Time) bool {
	return s.inUse == 0 && s.granted == nil && s.waiters.Len() == 0 && !s.ready.After(now)
}

// slotsOf returns the slots that a request for u takes.
func (c *Crawler) slotsOf(u page.URL) []*slot {
	p := &c.opts.Politeness
	key := HostOf(u)
	h := c.hosts[key]
	slots := []*slot{c.slot("host "+key, c.perHost(h), 0)}
	if h != nil && h.addr.IsValid() && p.PerIP > 0 {
		slots = append(slots, c.addressSlot(h.addr))
	}
	if p.PerDomain > 0 || p.DomainDelay > 0 {
		slots = append(slots, c.slot("domain "+page.RegistrableDomain(u.Host()), max(p.PerDomain, 0), p.DomainDelay))
	}
	return slots
}

// perHost is how many requests a host (nil: one that is not in memory) gets at a time.
// A host with a Crawl-delay wants its requests one by one, and that takes precedence
// over the user's setting.
func (c *Crawler) perHost(h *host) int {
	p := &c.opts.Politeness
	if h != nil && h.pace.crawlDelay > 0 && p.CrawlDelayCap > 0 {
		return 1
	}
	return p.PerHost
}

func (c *Crawler) addressSlot(a netip.Addr) *slot {
	return c.slot("address "+network(a), c.opts.Politeness.PerIP, 0)
}

// largeKey is the key of the slot of large files. Hosts do not wait for it: one that may
// not take it requests pages meanwhile.
const largeKey = "large files"

func (c *Crawler) largeSlot() *slot { return c.slot(largeKey, maxLarge, -1) }

// tooMany reports whether a file is large, and enough of these are being read.
func (c *Crawler) tooMany(h *host, s *auxiliary, now time.Time) bool {
	return s.large && !c.largeSlot().open(h, now)
}

func (c *Crawler) slot(key string, limit int, spacing time.Duration) *slot {
	s := c.slots[key]
	if s == nil {
		s = &slot{key: key, spacing: spacing, waiters: queue[*host]{
			less:  func(a, b *host) bool { return a.ticket < b.ticket },
			place: func(h *host) *int { return &h.waitIndex },
		}}
		c.slots[key] = s
	}
	s.limit = limit // a host's limit changes with its robots.txt
	return s
}

// network returns what counts as one address: a user of IPv6 has a /64 network.
func network(a netip.Addr) string {
	if a = a.Unmap(); a.Is4() {
		return a.String()
	}
	p, err := a.Prefix(64)
	if err != nil {
		return a.String()
	}
	return p.String()
}

// acquire takes all the slots for h. If one is not available, h waits for it.
func (c *Crawler) acquire(h *host, slots []*slot, now time.Time) bool {
	if h.ticket == 0 {
		c.tickets++
		h.ticket = c.tickets
	}
	for _, s := range slots {
		if !s.open(h, now) {
			heap.Push(&s.waiters, h)
			h.waitsFor = s
			c.grant(s, now)
			return false
		}
	}
	h.ticket = 0
	for _, s := range slots {
		s.inUse++
		if s.spacing > 0 {
			s.delayUntil(now.Add(s.spacing))
		}
		c.grant(s, now)
	}
	return true
}

// release returns the slots of a finished request.
func (c *Crawler) release(slots []*slot, now time.Time) {
	for _, s := range slots {
		s.inUse--
		c.grant(s, now)
		if s.unused(now) {
			delete(c.slots, s.key)
		}
	}
}

// grant wakes the next host that waits for s.
func (c *Crawler) grant(s *slot, now time.Time) {
	if s.waiters.Len() == 0 || s.granted != nil || s.limit > 0 && s.inUse >= s.limit {
		return
	}
	h := heap.Pop(&s.waiters).(*host)
	h.waitsFor, h.granted, s.granted = nil, s, h
	at := now
	if s.ready.After(now) {
		at = s.ready
	}
	c.push(h, at)
}

// pruneSlots drops the slots that restrict no host.
func (c *Crawler) pruneSlots(now time.Time) {
	if now.Before(c.pruneAt) {
		return
	}
	c.pruneAt = now.Add(time.Minute)
	for key, s := range c.slots {
		if s.unused(now) {
			delete(c.slots, key)
		}
	}
}
