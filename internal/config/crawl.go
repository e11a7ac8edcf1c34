package config

import (
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Crawl holds the settings of crawling. Each is also a flag of `indexer crawl`, except
// Headers and the recrawl intervals.
type Crawl struct {
	// Scope is page, host, domain or any.
	Scope string
	// Depth is how many links from a seed are followed; -1: no limit.
	Depth int
	// Include and Exclude are patterns (RE2), one per line.
	Include, Exclude string
	// Contact is a page or mail address of the operator of the crawl; "": none. UserAgent
	// is the user agent; "": name, version and contact.
	Contact, UserAgent string
	// Headers are header fields for single sites, one per line.
	Headers string
	// Proxy is the URL of a proxy for all requests; "": none.
	Proxy string
	// AllowPrivate permits fetching from private, loopback and link-local addresses.
	AllowPrivate bool
	// WARC is the directory for WARC files of everything fetched; "": write none.
	WARC string
	// Follow keeps the crawl running when nothing is due.
	Follow bool
	// Delay is the minimum time between two requests to a host; 0: no pause.
	Delay time.Duration
	// Concurrency is how many requests run at a time to all hosts together, PerHost how
	// many to one host.
	Concurrency, PerHost int
	// MaxPages (visits), MaxBytes and MaxTime end a crawl; 0: no limit.
	MaxPages, MaxBytes int
	MaxTime            time.Duration
	// MaxPagesPerHost is how many URLs of each host may be visited; 0: no limit.
	MaxPagesPerHost int
	// NoSitemaps ignores sitemaps and feeds.
	NoSitemaps bool
	// Icons asks hosts for the icons of their sites.
	Icons bool
	// RevisitFirst is the time from the first visit of a page to the second. Later it
	// adapts, between RevisitMin and RevisitMax.
	RevisitFirst, RevisitMin, RevisitMax time.Duration
}

// Patterns returns the items of a setting that is a list, such as Include: its lines.
func Patterns(lines string) (list []string) {
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// eachLine reports whether all items of a setting that is a list satisfy ok.
func eachLine(lines string, ok func(string) bool) bool {
	return !slices.ContainsFunc(Patterns(lines), func(line string) bool { return !ok(line) })
}

func defaultCrawl() Crawl {
	return Crawl{
		Scope: "host", Depth: -1, Delay: time.Second, Concurrency: 32, PerHost: 1,
		RevisitFirst: 24 * time.Hour, RevisitMin: time.Hour, RevisitMax: 30 * 24 * time.Hour,
	}
}

const year = 365 * 24 * time.Hour

// mostCounted is the greatest limit of a crawl. It is less where an int has 32 bits.
const mostCounted = min(1<<53, math.MaxInt)

var crawlSettings = []setting{
	oneOf("crawl.scope", func(c *Config) *string { return &c.Crawl.Scope }, "page", "host", "domain", "any"),
	number("crawl.depth", func(c *Config) *int { return &c.Crawl.Depth }, -1, 1_000_000),
	checked("crawl.include", `regular expressions (RE2), such as \.pdf$, one per line`, func(c *Config) *string { return &c.Crawl.Include }, arePatterns).list(),
	checked("crawl.exclude", `regular expressions (RE2), such as \.pdf$, one per line`, func(c *Config) *string { return &c.Crawl.Exclude }, arePatterns).list(),
	checked("crawl.contact", "a page or mail address", func(c *Config) *string { return &c.Crawl.Contact }, isField),
	checked("crawl.user_agent", "a name that contains the word indexer, by which robots.txt files address this crawler", func(c *Config) *string { return &c.Crawl.UserAgent }, isAgent),
	checked("crawl.headers", "header fields SITE NAME: VALUE, such as https://intranet.example Authorization: Bearer @PATH, one per line, and none that the crawler sets itself", func(c *Config) *string { return &c.Crawl.Headers }, areHeaders).list().hidden(),
	checked("crawl.proxy", "the URL of a proxy (http, https or socks5)", func(c *Config) *string { return &c.Crawl.Proxy }, isProxy),
	boolean("crawl.allow_private", func(c *Config) *bool { return &c.Crawl.AllowPrivate }),
	checked("crawl.warc", "a path", func(c *Config) *string { return &c.Crawl.WARC }, noZero),
	boolean("crawl.follow", func(c *Config) *bool { return &c.Crawl.Follow }),
	period("crawl.delay", func(c *Config) *time.Duration { return &c.Crawl.Delay }, 0, 24*time.Hour),
	number("crawl.concurrency", func(c *Config) *int { return &c.Crawl.Concurrency }, 1, 10_000),
	number("crawl.per_host", func(c *Config) *int { return &c.Crawl.PerHost }, 1, 1000),
	number("crawl.max_pages", func(c *Config) *int { return &c.Crawl.MaxPages }, 0, mostCounted),
	number("crawl.max_bytes", func(c *Config) *int { return &c.Crawl.MaxBytes }, 0, mostCounted),
	period("crawl.max_time", func(c *Config) *time.Duration { return &c.Crawl.MaxTime }, 0, year),
	number("crawl.max_pages_per_host", func(c *Config) *int { return &c.Crawl.MaxPagesPerHost }, 0, mostCounted),
	boolean("crawl.no_sitemaps", func(c *Config) *bool { return &c.Crawl.NoSitemaps }),
	boolean("crawl.icons", func(c *Config) *bool { return &c.Crawl.Icons }),
	period("crawl.revisit_first", func(c *Config) *time.Duration { return &c.Crawl.RevisitFirst }, time.Minute, year),
	period("crawl.revisit_min", func(c *Config) *time.Duration { return &c.Crawl.RevisitMin }, time.Minute, year),
	period("crawl.revisit_max", func(c *Config) *time.Duration { return &c.Crawl.RevisitMax }, time.Minute, year),
}

func arePatterns(v string) bool {
	return eachLine(v, func(pattern string) bool {
		_, err := regexp.Compile(pattern)
		return err == nil
	})
}

// isField reports whether v can be part of a header field: it must not end the line.
func isField(v string) bool {
	return !strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// isAgent reports whether v can be the user agent. RFC 9309 section 2.2.1 requires the
// product token in it.
func isAgent(v string) bool {
	return v == "" || isField(v) && strings.Contains(strings.ToLower(v), "indexer")
}

func isProxy(v string) bool {
	u, err := url.Parse(v)
	return v == "" || err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "socks5")
}
