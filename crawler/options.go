package crawler

import (
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/page"
)

// Options are the settings of a Crawler. A zero value means the default; where a
// setting can be switched off, a negative value does so.
type Options struct {
	// Agent is the product token that groups of robots.txt name (RFC 9309 section
	// 2.2.1); default page.RobotName.
	Agent string
	// Concurrency bounds the requests and store operations under way, over all
	// hosts; default 32.
	Concurrency int

	Politeness Politeness
	Revisits   Revisits
	Sources    Sources
	Limits     Limits
	Memory     Memory

	// Follow keeps Run going, until its context ends, when nothing is due.
	Follow bool
	// MaxWait is how long Run waits, without Follow, for what is not due yet: a retry, a
	// revisit, or a host that is backing off. The next run does what is due later. Default 2
	// min; negative: do not wait. Run always waits for a polite delay between two
	// requests.
	MaxWait time.Duration
	// MaxWaitUnreached is the same for a host that has not answered any request of this
	// run, counted from the first one. Default 10 s, at most MaxWait; negative: do not
	// wait.
	MaxWaitUnreached time.Duration

	// Bare are the seeds that were given without a scheme and are tried with https. If
	// https cannot be reached, the same URL with http is added to the frontier.
	Bare []page.URL

	// Continues says that there may have been a run on this frontier before, which may have
	// been killed a moment ago.
	Continues bool

	// Paused says why no request may start for the moment (the disk is full, say); ""
	// lets the crawl continue. It is called about once a second and must not block. A
	// store operation that fails while Paused gives a reason does not end the crawl.
	Paused func() (why string)
	// Quiesce waits until all observers that find new URLs in loaded pages are idle. Run
	// calls it when nothing is due, and ends only if no Wake came meanwhile. If nil,
	// only Frontier.Visited and Add find URLs.
	Quiesce func(ctx context.Context) error
	// Share makes this crawler one of several on the frontier; nil: it is alone. It takes
	// the place of Quiesce.
	Share Share
	// Loading is told that pages come as fast as they can be loaded, until end is called
	// (fullspeed.go). May be nil.
	Loading func() (end func())
	// Loaded receives the fetches that belong to no job but are part of the index:
	// those of robots.txt files at their own URL. May be nil.
	Loaded func(ctx context.Context, f page.Fetch) error

	// Seed makes jitter and the probes' paths repeatable; 0 leaves them random.
	Seed uint64
	// Log receives problems that do not end the crawl; nil logs nothing.
	Log *zap.Logger
}

// Politeness limits the load on servers.
//
// The delay from the end of a request to the start of the next is the greatest of
// MinDelay, the host's crawl-delay and DelayFactor times its response time. A host that
// fails or refuses requests is left alone for longer; see pace.
type Politeness struct {
	// PerHost is how many requests a host (scheme, host and port) gets at a time;
	// default 1. More is for servers of one's own: the delay then separates groups of
	// requests. A host whose robots.txt has a Crawl-delay always gets one at a time.
	PerHost int
	// PerIP is the same for hosts at one address (for IPv6, one /64 network), which
	// also share the delay; default PerHost; negative: ignore addresses. The address is
	// known after the first exchange with a host.
	PerIP int
	// PerDomain is how many requests the hosts of one registrable domain get at a time;
	// default 4, or PerHost if that is more; negative: ignore domains.
	PerDomain int
	// DomainDelay is the time between the starts of two requests in one registrable
	// domain; default a quarter of MinDelay; negative: none.
	DomainDelay time.Duration

	// MinDelay is the least delay; default 1 s; negative: none.
	MinDelay time.Duration
	// DelayFactor multiplies the smoothed response time; default 5; negative: the delay
	// does not depend on it.
	DelayFactor float64
	// CrawlDelayCap is the longest crawl-delay that is honoured in full; longer ones
	// are cut to it. Default 30 s; negative: ignore crawl-delay.
	CrawlDelayCap time.Duration
	// MaxDelay is the longest delay; default 60 s, at least MinDelay and CrawlDelayCap.
	MaxDelay time.Duration

	// Backoff is how long a host is left alone after it failed (429, 5xx, time-out, no
	// connection). It doubles with every failure in a row, with a jitter of a quarter;
	// default 2 s.
	Backoff time.Duration
	// MaxBackoff is the longest such wait; default 1 h.
	MaxBackoff time.Duration
	// MaxRetryAfter is the longest wait a server may ask for; default 24 h.
	MaxRetryAfter time.Duration
}

// Revisits says when a URL is fetched again.
type Revisits struct {
	// FirstInterval is the time from the first visit to the second; default 24 h. Each
	// later interval is half of the one before if the page had changed, and half as
	// long again if not.
	FirstInterval time.Duration
	// MinInterval and MaxInterval bound the interval; default 1 h and 30 days.
	MinInterval, MaxInterval time.Duration
	// Retry is the time after which a failed fetch is repeated, four times longer after
	// every further failure in a row; default 1 min.
	Retry time.Duration
	// MaxStrikes is the number of failures in a row after which a URL is visited only
	// once every MaxInterval; default 5.
	MaxStrikes int
	// GoneRetry is the time between the first 404 of a page and the next request;
	// default 10 min.
	GoneRetry time.Duration
}

// Sources says where URLs are found besides links. Each source is read at most once a
// day.
type Sources struct {
	// NoSitemaps ignores the sitemaps that robots.txt files name.
	NoSitemaps bool
	// GuessSitemap tries /sitemap.xml on hosts whose robots.txt names no sitemap.
	GuessSitemap bool
	// NoFeeds ignores what pages name by <link>: feeds, next pages, translations.
	NoFeeds bool
	// NoProbe makes no requests for paths that cannot exist; pages that say "not found"
	// with status 200 are then indexed.
	NoProbe bool
	// Icons asks each host that has a page for its icon.
	Icons bool
	// MaxSitemaps and MaxFeeds bound the files read from one host in a pass, redirects on the
	// host not counted; default 100 and 5. Files that other hosts announce count as well, and
	// the count begins anew after half a day. MaxSitemaps also bounds those of one index.
	MaxSitemaps, MaxFeeds int
}

// Limits end a crawl early: once one is reached, no new request starts. 0 is no limit.
type Limits struct {
	// Pages is the number of jobs done. It is never exceeded: no job starts while those
	// under way may use up the rest.
	Pages int64
	// Bytes is how much is received, including headers. A request under way when the
	// limit is reached is completed, so the total may exceed the limit by what the last
	// visits bring beyond the mean of the visits before.
	Bytes int64
	// Time is how long Run makes requests.
	Time time.Duration
}

// Memory bounds what is kept in memory, whatever the number of known URLs and hosts.
type Memory struct {
	// Hosts is how many hosts are worked on at a time; default 1024.
	Hosts int
	// Turn is the number of requests after which a host makes room for one that waits;
	// default 100.
	Turn int
	// Waiting is how many further hosts are remembered, by name and time of their next
	// job; default 65,536. More are found by listing the frontier's hosts.
	Waiting int
	// Buffer is how many jobs of a host are read at a time; default 16.
	Buffer int
	// IdleTime is how long a host without a job is kept; default 30 s.
	IdleTime time.Duration
	// Bodies is how many bytes large bodies take together until they are stored; default
	// 256 MiB. See fetch.Budget.
	Bodies int64
	// Rules bounds the memory of all robots.txt files over 4 KiB with their rules, in bytes;
	// default 64 MiB. One file always fits.
	Rules int64
}

// WithDefaults returns the settings with defaults in place of zero values.
func (o Options) WithDefaults() Options {
	o.Agent = cmp.Or(o.Agent, page.RobotName)
	o.Concurrency = cmp.Or(o.Concurrency, 32)
	o.MaxWait = cmp.Or(o.MaxWait, 2*time.Minute)
	o.MaxWaitUnreached = cmp.Or(o.MaxWaitUnreached, 10*time.Second)
	o.Seed = cmp.Or(o.Seed, rand.Uint64())
	o.Politeness.setDefaults()
	o.Revisits.setDefaults()
	o.Sources.MaxSitemaps = cmp.Or(o.Sources.MaxSitemaps, 100)
	o.Sources.MaxFeeds = cmp.Or(o.Sources.MaxFeeds, 5)
	o.Memory.Hosts = cmp.Or(o.Memory.Hosts, 1024)
	o.Memory.Turn = cmp.Or(o.Memory.Turn, 100)
	o.Memory.Waiting = cmp.Or(o.Memory.Waiting, 1<<16)
	o.Memory.Buffer = cmp.Or(o.Memory.Buffer, 16)
	o.Memory.Bodies = cmp.Or(o.Memory.Bodies, 256<<20)
	o.Memory.Rules = cmp.Or(o.Memory.Rules, 64<<20)
	o.Memory.IdleTime = cmp.Or(o.Memory.IdleTime, 30*time.Second)
	o.Log = cmp.Or(o.Log, zap.NewNop())
	return o
}

func (p *Politeness) setDefaults() {
	p.PerHost = cmp.Or(p.PerHost, 1)
	p.PerIP = cmp.Or(p.PerIP, p.PerHost)
	p.PerDomain = cmp.Or(p.PerDomain, max(4, p.PerHost))
	p.MinDelay = max(cmp.Or(p.MinDelay, time.Second), 0)
	p.DomainDelay = cmp.Or(p.DomainDelay, p.MinDelay/4, -1)
	p.DelayFactor = cmp.Or(p.DelayFactor, 5)
	p.CrawlDelayCap = cmp.Or(p.CrawlDelayCap, 30*time.Second)
	p.MaxDelay = max(cmp.Or(p.MaxDelay, 60*time.Second), p.MinDelay, p.CrawlDelayCap)
	p.Backoff = cmp.Or(p.Backoff, 2*time.Second)
	p.MaxBackoff = cmp.Or(p.MaxBackoff, time.Hour)
	p.MaxRetryAfter = cmp.Or(p.MaxRetryAfter, 24*time.Hour)
}

func (r *Revisits) setDefaults() {
	r.MinInterval = cmp.Or(r.MinInterval, time.Hour)
	r.MaxInterval = max(cmp.Or(r.MaxInterval, 30*24*time.Hour), r.MinInterval)
	r.FirstInterval = min(max(cmp.Or(r.FirstInterval, 24*time.Hour), r.MinInterval), r.MaxInterval)
	r.Retry = cmp.Or(r.Retry, time.Minute)
	r.MaxStrikes = cmp.Or(r.MaxStrikes, 5)
	r.GoneRetry = cmp.Or(r.GoneRetry, 10*time.Minute)
}
