package crawler

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/crawler/robots"
	"github.com/webindexer/indexer/crawler/sitemap"
	"github.com/webindexer/indexer/page"
)

// Sitemaps and feeds are requested from the host they are on, under its robots.txt and
// politeness, alternating with its pages. What they list is added to the frontier,
// which checks it against the scope. They are neither loaded nor recorded: they are not
// part of the index.
//
// They are read in passes, at most one per host in passInterval. A pass that was
// interrupted (by a crash, or the end of Run) is not marked as done and starts over. A
// pass also runs when nothing else of the host is due.
//
// Reading a file of 50 MiB takes up to 200 MB of memory. So a file is requested with a
// limit of smallFile first. One that is larger is requested once more, when fewer than
// maxLarge of these are being read.
//
// Rejected: reading them as they arrive. To add 50,000 URLs takes longer than many
// servers wait for a client.

const (
	passInterval = 24 * time.Hour
	// maxAuxHops is how many redirects are followed to a sitemap or feed.
	maxAuxHops = 5
	// maxAuxTries is how often a sitemap or feed is requested in a pass if the host fails.
	maxAuxTries = 3
	// listedDepth is the depth of the URLs they list: the hosts of seeds published
	// them.
	listedDepth = 1

	smallFile = 4 << 20
	maxLarge  = 2
	// largeRetry is how often a host looks whether it may request a large file.
	largeRetry = time.Second
)

type auxKind uint8

const (
	auxSitemap auxKind = iota
	auxFeed
	auxProbe
	auxKinds // how many there are
)

// auxiliary is a request that belongs to no job: a sitemap, a feed or a probe.
type auxiliary struct {
	kind auxKind
	url  page.URL
	// announcer is the site (scheme, host and port) that named the file: the file may
	// list its pages, besides those of the file's own host.
	announcer string
	// named is the sitemap of a robots.txt that led to this one, or this one itself.
	named       page.URL
	depth, hops int
	failures    int            // in a row
	cookies     *fetch.Cookies // set by its redirects
	forward     int            // how many visits it may bring forward; reserved from the announcer's claims
	large       bool           // it is larger than smallFile
	counted     bool           // among the files of its host, which redirected here
	allowed     bool           // by the rules in force; if not, that is not known yet
}

// auxQueue holds the auxiliary requests of a host.
type auxQueue struct {
	queue []auxiliary
	turn  bool // a file comes next, if any
	busy  int  // requests under way
	seen  map[page.URL]bool
	files [auxKinds]int // how many were queued, without redirects on the host
	since time.Time     // what seen and files hold was queued since then

	off       bool       // read none
	passing   bool       // a pass is under way
	read      time.Time  // when the last pass ended
	announced []page.URL // sitemaps that robots.txt names
	feeds     []page.URL // known feeds
	stored    int        // how many of them the store has; the last ones may be missing
}

// take removes the first request, which is now under way.
func (q *auxQueue) take() {
	q.queue = slices.Delete(q.queue, 0, 1)
	q.turn = false
	q.busy++
}

// forgetAfter is when a file may be read again. Another host announces its files once in
// passInterval, at any time between two passes of this host. But it may come to a file of an
// index sooner after the start of its pass than the day before, so forgetAfter is less.
const forgetAfter = passInterval / 2

// forget forgets which files were queued.
func (q *auxQueue) forget(now time.Time) {
	q.seen, q.files, q.since = make(map[page.URL]bool), [auxKinds]int{}, now
}

// push appends a file, unless it was queued a while ago or too many of its kind were.
func (q *auxQueue) push(s auxiliary, most int, now time.Time) {
	if now.Sub(q.since) >= forgetAfter {
		q.forget(now)
	}
	if q.seen[s.url] && s.hops == 0 || !s.counted && q.files[s.kind] >= most { // hops are bounded
		return
	}
	if !s.counted {
		q.files[s.kind]++
	}
	s.counted, s.allowed, q.seen[s.url] = true, false, true
	q.queue = append(q.queue, s)
}

// again queues once more a file that could not be read.
func (q *auxQueue) again(s auxiliary) {
	s.forward, s.allowed = 0, false // the rules may have changed
	q.queue = append(q.queue, s)
}

// retry is like again, for a host that failed and is first left alone for a while.
func (q *auxQueue) retry(s auxiliary) {
	if s.failures++; s.failures < maxAuxTries {
		q.again(s)
	}
}

// sitemapsOf returns the sitemaps that a robots.txt names, at most most of them. It tries ten
// times as many lines: most lines are as they should be, and a line that is not takes long.
func sitemapsOf(p robots.Policy, host string, most int) []page.URL {
	own, err := page.ParseURL(host + "/robots.txt")
	if err != nil {
		return nil
	}
	var urls []page.URL
	base, refs := page.NewResolver(own), p.File().Sitemaps()
	for _, ref := range refs[:min(len(refs), 10*most)] {
		if u, err := base.Resolve(ref); err == nil && !slices.Contains(urls, u) && len(urls) < most {
			urls = append(urls, u)
		}
	}
	return urls
}

// passAt returns when to read sitemaps and feeds again, if any are known; zero for
// never. A due pass is a reason to ask a host even if nothing else is due: otherwise
// new pages would stay unknown until an old page is visited again.
func (q *auxQueue) passAt() time.Time {
	if q.off || q.passing || q.read.IsZero() || len(q.announced)+len(q.feeds) == 0 {
		return time.Time{}
	}
	return q.read.Add(passInterval)
}

func (q *auxQueue) passDue(now time.Time) bool {
	at := q.passAt()
	return !at.IsZero() && !at.After(now)
}

// beginPass begins a pass if it is time and the host's robots.txt is known. A host that has
// only resources of pages on other hosts has no sitemaps and feeds that the crawl wants.
func (c *Crawler) beginPass(h *host, now time.Time) {
	q, o := &h.aux, &c.opts.Sources
	if !h.rulesKnown(now) || h.uses == usesResources {
		return
	}
	if q.passing || !q.read.IsZero() && now.Sub(q.read) < passInterval {
		return
	}
	q.passing = true
	q.forget(now)
	h.claims.begin()
	if !o.NoSitemaps {
		for _, u := range q.announced {
			c.queueAux(auxiliary{kind: auxSitemap, url: u, named: u, announcer: h.key}, now)
		}
		if len(q.announced) == 0 && o.GuessSitemap {
			if u, err := page.ParseURL(h.key + "/sitemap.xml"); err == nil {
				c.queueAux(auxiliary{kind: auxSitemap, url: u, named: u, announcer: h.key}, now)
			}
		}
	}
	if !o.NoFeeds {
		c.queueFeeds(h, q.feeds, now)
	}
	c.endPass(h, now)
}

// queueAux gives a file to the host it is on, or to the crawler that asks that host. If
// the host is not in memory and no place is free, the next pass reads the file.
func (c *Crawler) queueAux(s auxiliary, now time.Time) {
	key := HostOf(s.url)
	if !c.owns(key) {
		c.forward(s)
		return
	}
	h := c.hosts[key]
	if h == nil {
		if c.room() <= 0 {
			return
		}
		h = c.activate(key, now)
	}
	h.aux.push(s, c.opts.Sources.MaxSitemaps, now)
	c.push(h, now)
}

// keepFeeds stores the feeds that a page of the host names, and returns those that are new.
// The goroutine of a visit calls it, without mu.
func (c *Crawler) keepFeeds(ctx context.Context, h *host, named []page.URL) (fresh []page.URL, err error) {
	if len(named) == 0 {
		return nil, nil
	}
	c.mu.Lock()
	q := &h.aux
	for _, u := range named {
		if len(q.feeds) < c.opts.Sources.MaxFeeds && !slices.Contains(q.feeds, u) {
			q.feeds, fresh = append(q.feeds, u), append(fresh, u)
		}
	}
	stored := q.stored == len(q.feeds)
	c.mu.Unlock()
	if stored {
		return fresh, nil
	}
	return fresh, c.store(ctx, h)
}

// queueFeeds queues feeds of the host.
func (c *Crawler) queueFeeds(h *host, feeds []page.URL, now time.Time) {
	for _, u := range feeds {
		c.queueAux(auxiliary{kind: auxFeed, url: u, announcer: h.key}, now)
	}
}

// giveUpAux drops the requests that wait, none being under way. A pass starts over: it may do so in
// this stay, if the host is woken before its state is stored.
func (h *host) giveUpAux() {
	if h.probeNext() {
		h.soft.giveUp()
	}
	h.aux.queue, h.aux.passing = nil, false
}

func (c *Crawler) endPass(h *host, now time.Time) {
	q := &h.aux
	if q.passing && len(q.queue) == 0 && q.busy == 0 {
		q.passing, q.read, h.dirty = false, now, true
	}
}

// fetchAux requests a file and adds what it lists, or requests a probe.
func (c *Crawler) fetchAux(h *host, s auxiliary) task {
	if s.kind == auxProbe {
		return c.fetchProbe(h, s)
	}
	if of := c.hosts[s.announcer]; of != nil {
		s.forward = of.claims.reserve()
	}
	if s.cookies == nil {
		s.cookies = fetch.NewCookies()
	}
	return func(ctx context.Context, memory *fetch.Reservation) (exchange, func(time.Time), error) {
		reading, done := c.untilAsked(ctx)
		defer done()
		res, x := c.exchange(reading, s.request(), memory)
		tooLarge := x.class == fetch.TooLarge && !s.large && x.status/100 == 2
		if tooLarge {
			x.class = fetch.OK // nothing is wrong with the answer
		}
		l := c.read(ctx, s, &res)
		return x, func(now time.Time) {
			h.aux.busy--
			if of := c.hosts[s.announcer]; of != nil {
				of.claims.giveBack(s.forward - l.forward)
			}
			switch {
			case tooLarge:
				s.large = true
				h.aux.again(s)
			case x.class == fetch.Canceled || l.err != nil || l.interrupted:
				h.aux.again(s)
			case x.againstHost:
				h.aux.retry(s)
			}
			for _, child := range l.more {
				c.queueAux(child, now)
			}
			c.meter.aux++
			c.endPass(h, now)
		}, l.err
	}
}

// announces reports whether a site announced a file. If several did, the file is read once, for the
// first one and for those whose robots.txt is then in memory. The goroutine of a request calls it,
// without mu.
func (c *Crawler) announces(site string, s *auxiliary) bool {
	if site == s.announcer {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.hosts[site]
	return h != nil && s.named != "" && slices.Contains(h.aux.announced, s.named)
}

// untilAsked returns a context that ends with ctx, and with Run's own: an interrupt
// need not wait for a file, because its pass starts over in the next run.
func (c *Crawler) untilAsked(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.asked, cancel)
	return ctx, func() { stop(); cancel() }
}

// request asks for a file.
func (s *auxiliary) request() fetch.Request {
	r := fetch.Request{URL: s.url, Cookies: s.cookies, MaxBody: smallFile}
	if s.large {
		r.MaxBody = sitemap.MaxSize
	}
	return r
}

// read adds the pages that a file lists to the frontier, and finds the files to read
// next. It stops when the crawl should end.
func (c *Crawler) read(ctx context.Context, s auxiliary, res *fetch.Result) *listed {
	l := &listed{file: &s, most: c.opts.Sources.MaxSitemaps, asked: c.asked, add: func(pages []Found, forward int) (Added, error) {
		return c.frontier.Add(ctx, Finding{
			URLs: pages, Depth: listedDepth, Source: string(s.url), BringForward: forward, Spacing: c.opts.Revisits.MinInterval,
		})
	}}
	f := &res.Fetch
	location := strings.TrimSpace(f.Header.Get("Location"))
	switch {
	case f.Status/100 == 3 && location != "":
		l.redirect(location)
		return l
	case !f.IsSuccess():
		return l
	}
	_, problems := sitemap.Parse(bytes.NewReader(f.Body), s.url, sitemap.Options{
		Depth: s.depth, Announced: func(site string) bool { return c.announces(site, &s) },
	}, l.take)
	switch n := len(problems); n {
	case 0:
	case 1:
		c.opts.Log.Info(fmt.Sprintf("%s: %v", s.url, problems[0]))
	default:
		c.opts.Log.Info(fmt.Sprintf("%s: %d problems, the first: %v", s.url, n, problems[0]))
	}
	if l.full {
		c.opts.Log.Info(fmt.Sprintf("%s: it lists more than %d sitemaps; the rest is left out", s.url, l.most))
	}
	l.addPages()
	return l
}
