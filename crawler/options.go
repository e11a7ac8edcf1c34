package crawler

import (
	"context"
	"math/rand/v2"
	"time"

	"go.uber.org/zap"

	"indexer/page"
)

// Options are the settings of a Crawler. The zero value of each is its default;
// where none at all has a meaning, a negative value says so.
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
	// Patience is how long Run waits without Follow for what is not due yet: a retry,
	// or a host that is backing off. What is due later is left to the next run. Default
	// 2 min; negative: it does not wait. A polite delay between two requests is always
	// waited for.
	Patience time.Duration
	// PatienceUnreached is the same for a host that has not answered a single request of
	// this run, counted from the first; default 10 s, at most Patience; negative: it does
	// not wait.
	PatienceUnreached time.Duration

	// Bare are the seeds that were given without a scheme and are tried with https.
	// If https cannot be reached, the same URL with http is added to the frontier.
	Bare []page.URL

	// Paused says why no request is to be made for the moment (the disk is full, say);
	// "" lets the crawl go on. It is asked about once a second and must not block. A
	// store operation that fails while it gives a reason does not end the crawl.
	Paused func() (why string)
	// Settle waits until whatever finds new URLs in what was loaded has nothing left to
	// do. Run calls it when nothing is due, and ends only if no Wake came meanwhile.
	// Nil: nothing finds URLs but Frontier.Visited and Add.
	Settle func(ctx context.Context) error
	// Loaded takes the fetches that belong to no job and concern the index all the same:
	// those of robots.txt files at their own URL. May be nil.
	Loaded func(ctx context.Context, f page.Fetch) error

	// Seed makes jitter and the probes' paths repeatable; 0: they are not.
	Seed uint64
	// Log takes what goes wrong without ending the crawl; nil: nothing is logged.
	Log *zap.Logger
}

// Politeness says how much a server is asked of.
//
// The delay from the end of a request to the start of the next is the greatest of
// MinDelay, the host's crawl-delay and DelayFactor times its response time. A host
// that fails or refuses is left alone for longer; see pace.
type Politeness struct {
	// PerHost is how many requests a host (scheme, host and port) gets at a time;
	// default 1. More is for servers of one's own: the delay then parts groups of
	// requests. A host whose robots.txt has a Crawl-delay gets one at a time all the same.
	PerHost int
	// PerIP is the same for hosts at one address (of IPv6, one /64 network), which also
	// share the delay; default PerHost; negative: addresses do not matter. The address is
	// known after the first exchange with a host.
	PerIP int
	// PerDomain is how many requests the hosts of one registrable domain get at a time;
	// default 4, or PerHost if that is more; negative: domains do not matter.
	PerDomain int
	// DomainDelay is the time between the starts of two requests in one registrable
	// domain; default a quarter of MinDelay; negative: none.
	DomainDelay time.Duration

	// MinDelay: default 1 s; negative: none.
	MinDelay time.Duration
	// DelayFactor is what the smoothed response time is multiplied by; default 5;
	// negative: the delay does not depend on it.
	DelayFactor float64
	// CrawlDelayCap is the longest crawl-delay that is honoured in full, longer ones are
	// cut to it; default 30 s; negative: crawl-delay is ignored.
	CrawlDelayCap time.Duration
	// MaxDelay is the longest delay; default 60 s, at least MinDelay and CrawlDelayCap.
	MaxDelay time.Duration

	// Backoff is how long a host is left alone after it failed (429, 5xx, time-out, no
	// connection); doubled with every failure in a row, with a jitter of a quarter; default 2 s.
	Backoff time.Duration
	// MaxBackoff is the longest such wait; default 1 h.
	MaxBackoff time.Duration
	// MaxRetryAfter is the longest wait a server may ask for; default 24 h.
	MaxRetryAfter time.Duration
}

// Revisits says when a URL is fetched again.
type Revisits struct {
	// FirstInterval is the time from the first visit to the second; default 24 h. Later
	// ones are half of the one before if the page had changed, half as long again if not.
	FirstInterval time.Duration
	// MinInterval and MaxInterval bound it; default 1 h and 30 days.
	MinInterval, MaxInterval time.Duration
	// Retry is the time after which a fetch that failed is made again; four times longer
	// after every failure in a row; default 1 min.
	Retry time.Duration
	// MaxStrikes is the number of failures in a row after which a URL is looked at once
	// every MaxInterval only; default 5.
	MaxStrikes int
	// GoneRetry is the time after which a page that answers 404 for the first time is
	// asked for a second time; default 10 min.
	GoneRetry time.Duration
}

// Sources says where URLs are found besides links. All of them are read again once
// a day at most.
type Sources struct {
	// NoSitemaps leaves the sitemaps alone that robots.txt files name.
	NoSitemaps bool
	// GuessSitemap tries /sitemap.xml of hosts whose robots.txt names none.
	GuessSitemap bool
	// NoFeeds leaves alone what pages name by <link>: feeds, next pages, translations.
	NoFeeds bool
	// NoProbe makes no request for a path that cannot exist; pages that say "not found"
	// with status 200 are indexed then.
	NoProbe bool
	// MaxSitemaps and MaxFeeds bound the files read of one host a day; default 100 and 5.
	MaxSitemaps, MaxFeeds int
}

// Limits end a crawl early: no new request is made when one is reached. 0 is no
// limit.
type Limits struct {
	// Pages is the number of jobs done. It is never exceeded: no job starts while those
	// under way may use up what is left.
	Pages int64
	// Bytes is what is received, headers included. A request under way when the limit is
	// reached is completed, so it is exceeded by what the last visits bring beyond the
	// mean of those before.
	Bytes int64
	// Time is how long Run makes requests.
	Time time.Duration
}

// Memory bounds what is kept in memory. Neither the number of known URLs nor that
// of known hosts matters beyond that.
type Memory struct {
	// Hosts is how many are worked on at a time; default 1024.
	Hosts int
	// Turn is the number of requests after which a host makes room for one that waits;
	// default 100.
	Turn int
	// Waiting is how many further hosts are remembered, by name and time of their next
	// job; default 65,536. Others are found by listing the frontier's hosts.
	Waiting int
	// Buffer is how many jobs of a host are read at a time; default 16.
	Buffer int
	// IdleTime is how long a host without a job is kept; default 30 s.
	IdleTime time.Duration
}

// WithDefaults are the settings with defaults in the place of zero values.
func (o Options) WithDefaults() Options {
	set(&o.Agent, page.RobotName)
	set(&o.Concurrency, 32)
	set(&o.Patience, 2*time.Minute)
	set(&o.PatienceUnreached, 10*time.Second)
	set(&o.Seed, rand.Uint64())
	o.Politeness.setDefaults()
	o.Revisits.setDefaults()
	set(&o.Sources.MaxSitemaps, 100)
	set(&o.Sources.MaxFeeds, 5)
	set(&o.Memory.Hosts, 1024)
	set(&o.Memory.Turn, 100)
	set(&o.Memory.Waiting, 1<<16)
	set(&o.Memory.Buffer, 16)
	set(&o.Memory.IdleTime, 30*time.Second)
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	return o
}

func (p *Politeness) setDefaults() {
	set(&p.PerHost, 1)
	set(&p.PerIP, p.PerHost)
	set(&p.PerDomain, max(4, p.PerHost))
	set(&p.MinDelay, time.Second)
	p.MinDelay = max(p.MinDelay, 0)
	set(&p.DomainDelay, p.MinDelay/4)
	p.DomainDelay = max(p.DomainDelay, 0)
	set(&p.DelayFactor, 5)
	set(&p.CrawlDelayCap, 30*time.Second)
	set(&p.MaxDelay, 60*time.Second)
	p.MaxDelay = max(p.MaxDelay, p.MinDelay, p.CrawlDelayCap)
	set(&p.Backoff, 2*time.Second)
	set(&p.MaxBackoff, time.Hour)
	set(&p.MaxRetryAfter, 24*time.Hour)
}

func (r *Revisits) setDefaults() {
	set(&r.FirstInterval, 24*time.Hour)
	set(&r.MinInterval, time.Hour)
	set(&r.MaxInterval, 30*24*time.Hour)
	r.MaxInterval = max(r.MaxInterval, r.MinInterval)
	r.FirstInterval = min(max(r.FirstInterval, r.MinInterval), r.MaxInterval)
	set(&r.Retry, time.Minute)
	set(&r.MaxStrikes, 5)
	set(&r.GoneRetry, 10*time.Minute)
}

// set gives a setting its default.
func set[T comparable](setting *T, value T) {
	var zero T
	if *setting == zero {
		*setting = value
	}
}
