package crawler

import (
	"slices"
	"time"

	"github.com/webindexer/indexer/crawler/robots"
	"github.com/webindexer/indexer/page"
)

// The largest robots.txt takes 3.5 MB of memory with its rules, and a crawl works on a
// thousand hosts at a time. So hosts with a large robots.txt share Memory.Rules bytes. A host
// that finds no room waits in line, and loads its state when its turn comes. The hosts that
// hold room leave memory after their turn, as they do when others wait for a place
// (Crawler.makesWay).
//
// The size of a robots.txt is known only once it has been fetched. If it finds no room then,
// the crawler does not compile its rules. It stores the state of the host, which leaves memory
// and gets in line when it is loaded again.
//
// A host holds no room while it waits for room, so hosts cannot wait for each other. But a
// host that has waited for long makes way for hosts that wait for a place, and then gets in
// line again at the end.

// usualRobots is the size up to which a robots.txt needs no room.
const usualRobots = 4 << 10

// rulesSize is how many bytes of room a robots.txt needs, with its rules.
func rulesSize(p *robots.Policy) int64 {
	if p.Copy == nil || len(p.Copy.Body) <= usualRobots {
		return 0
	}
	return int64(len(p.Copy.Body)) * (1 + robots.MemoryFactor)
}

// rulesRoom is the memory for large robots.txt files. Crawler.mu guards it.
type rulesRoom struct {
	size, held int64
	line       []*host // hosts that wait, in the order in which they came
}

// fits reports whether there is room for n more bytes. One file always fits.
func (r *rulesRoom) fits(n int64) bool { return r.held == 0 || r.held+n <= r.size }

// takeRules takes n bytes of room for the rules of a host, in place of the room that it holds.
// If there is not enough, it reports false, and the host holds none.
func (c *Crawler) takeRules(h *host, n int64, now time.Time) bool {
	r := &c.rules
	held := h.rules
	r.held, h.rules = r.held-held, 0
	if n <= held || len(r.line) == 0 && r.fits(n) {
		r.held, h.rules = r.held+n, n
	}
	c.admit(now)
	return h.rules == n
}

// admit gives room to the hosts at the front of the line.
func (c *Crawler) admit(now time.Time) {
	r := &c.rules
	for len(r.line) > 0 && r.fits(r.line[0].rulesWanted) {
		h := r.line[0]
		r.line = slices.Delete(r.line, 0, 1)
		h.rules, h.rulesWanted = h.rulesWanted, 0
		r.held += h.rules
		c.push(h, now)
	}
}

// lineUp makes a host wait for room.
func (c *Crawler) lineUp(h *host, n int64, now time.Time) {
	h.rulesWanted, h.idleSince = n, now
	h.why = "memory for a large robots.txt"
	c.rules.line = append(c.rules.line, h)
	c.admit(now)
	if len(c.rules.line) == 1 && h.rulesWanted > 0 {
		c.pushIdle(now)
	}
}

// waitForRules keeps a host in line, but not for long if others want its place in memory.
func (c *Crawler) waitForRules(h *host, now time.Time) {
	if now.Sub(h.idleSince) >= c.opts.Memory.IdleTime {
		if c.crowded {
			c.forget(h)
			c.await(h.key)
			return
		}
		h.idleSince = now
	}
	c.push(h, h.idleSince.Add(c.opts.Memory.IdleTime))
}

// dropRules gives back the room of a host that leaves memory, and its place in the line.
func (c *Crawler) dropRules(h *host) {
	r := &c.rules
	r.held, h.rules = r.held-h.rules, 0
	if h.rulesWanted > 0 {
		h.rulesWanted = 0
		r.line = slices.DeleteFunc(r.line, func(w *host) bool { return w == h })
	}
	c.admit(time.Now())
}

// makesWay reports whether other hosts want what h takes: its place or its room.
func (c *Crawler) makesWay(h *host) bool { return c.crowded || h.rules > 0 && len(c.rules.line) > 0 }

// leaveWithoutRules evicts a host that found no room for its new robots.txt, once nothing is
// under way for it.
func (c *Crawler) leaveWithoutRules(h *host) {
	if h.busy() {
		return
	}
	h.jobs = newJobBuffer()
	h.giveUpAux()
	c.evict(h)
}

// compile returns the rules and sitemaps of a policy, if there is room for them. Large files
// take turns: compiling one takes a few times its memory. It is called without mu.
func (c *Crawler) compile(h *host, p *robots.Policy) (group *robots.Group, sitemaps []page.URL, ok bool) {
	n := rulesSize(p)
	c.mu.Lock()
	ok = c.takeRules(h, n, time.Now())
	c.mu.Unlock()
	if !ok {
		return nil, nil, false
	}
	if n > 0 {
		c.compiling.Lock()
		defer c.compiling.Unlock()
	}
	return p.Group(c.opts.Agent), sitemapsOf(*p, h.key, c.opts.Sources.MaxSitemaps), true
}
