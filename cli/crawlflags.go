package cli

import (
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/internal/config"
	"github.com/webindexer/indexer/page"
)

// crawlFlags are the settings of one crawl.
type crawlFlags struct {
	config             frontier.Config
	follow             bool
	warc               string
	allowPrivate       bool
	proxy              string
	contact, userAgent string
	headers            string
	again              []page.URL // to visit now
	delay              time.Duration
	concurrency        int
	perHost            int
	pages              int64
	bytes              int64
	time               time.Duration
	noSitemaps, icons  bool
	first, least, most time.Duration // intervals of revisits

	given func(flag string) bool // on the command line
}

// crawlFlagKeys maps the flags of crawl to the settings that they set.
var crawlFlagKeys = map[string]string{
	"scope": "crawl.scope", "depth": "crawl.depth", "include": "crawl.include", "exclude": "crawl.exclude",
	"contact": "crawl.contact", "user-agent": "crawl.user_agent", "proxy": "crawl.proxy", "allow-private": "crawl.allow_private",
	"warc": "crawl.warc", "follow": "crawl.follow", "delay": "crawl.delay", "concurrency": "crawl.concurrency", "per-host": "crawl.per_host",
	"max-pages": "crawl.max_pages", "max-bytes": "crawl.max_bytes", "max-time": "crawl.max_time", "max-pages-per-host": "crawl.max_pages_per_host",
	"no-sitemaps": "crawl.no_sitemaps", "icons": "crawl.icons",
}

// registerCrawl declares the flags of crawl. Their values are checked and read together
// with the other settings.
func registerCrawl(cmd *cobra.Command, d config.Crawl) {
	flags := cmd.Flags()
	flags.String("scope", d.Scope, "`scope` of the crawl: the same page, host or domain as a seed, or any")
	flags.Int("depth", d.Depth, "follow at most this many `links` from a seed; -1: no limit")
	flags.StringArray("include", nil, "crawl only URLs that match this `pattern` (RE2); may be repeated: one must match")
	flags.StringArray("exclude", nil, "skip URLs that match this `pattern` (RE2); may be repeated")
	flags.Bool("follow", d.Follow, "keep running, and visit pages again when they are due")
	flags.String("warc", d.WARC, "write everything fetched to WARC files in this `directory`")
	flags.Bool("allow-private", d.AllowPrivate, "also fetch from private, loopback and link-local addresses")
	flags.String("proxy", d.Proxy, "send all requests through the proxy at this `URL` (http, https or socks5)")
	flags.String("contact", d.Contact, "`address` (page or mail) of the operator, sent in the user agent")
	flags.String("user-agent", d.UserAgent, "`name` to send as user agent; must contain indexer (default: name, version, contact)")
	flags.Duration("delay", d.Delay, "minimum `time` between two requests to a host; 0: no pause, but still one at a time")
	flags.Int("concurrency", d.Concurrency, "`number` of requests at a time to all hosts together")
	flags.Int("per-host", d.PerHost, "`number` of requests at a time to one host, for your own servers")
	flags.Int64("max-pages", 0, "end after `N` visits (pages, redirects, 404s, failures); 0: no limit")
	flags.Int("max-pages-per-host", 0, "visit at most `N` URLs of each host, in all runs together; 0: no limit")
	flags.Int64("max-bytes", 0, "end after receiving this many `bytes`; 0: no limit")
	flags.Duration("max-time", 0, "end after this `time`; 0: no limit")
	flags.Bool("no-sitemaps", d.NoSitemaps, "do not read sitemaps and feeds")
	flags.Bool("icons", d.Icons, "also ask each host for the icon of the site: /favicon.ico, and what its front page names")
	setSettings(flags, crawlFlagKeys)
}

// flagsOf returns the settings of a crawl.
func flagsOf(c config.Crawl) crawlFlags {
	return crawlFlags{
		config: frontier.Config{Scope: c.Scope, MaxDepth: c.Depth, Include: config.Patterns(c.Include), Exclude: config.Patterns(c.Exclude), MaxPagesPerHost: c.MaxPagesPerHost},
		follow: c.Follow, warc: c.WARC, allowPrivate: c.AllowPrivate, proxy: c.Proxy, contact: c.Contact, userAgent: c.UserAgent, headers: c.Headers,
		delay: c.Delay, concurrency: c.Concurrency, perHost: c.PerHost, pages: int64(c.MaxPages), bytes: int64(c.MaxBytes), time: c.MaxTime,
		given: func(string) bool { return false }, noSitemaps: c.NoSitemaps, icons: c.Icons, first: c.RevisitFirst, least: c.RevisitMin, most: c.RevisitMax,
	}
}

// check rejects contradictory settings before anything is opened.
func (f *crawlFlags) check() error {
	if err := f.config.Validate(); err != nil {
		return &usageError{reason: err.Error(), help: "indexer crawl"}
	}
	return nil
}

// checkKept rejects flags that differ from the settings of a crawl that continues without seeds:
// they would have no effect.
func (f *crawlFlags) checkKept(kept frontier.Config) error {
	same := map[string]bool{
		"scope": f.config.Scope == kept.Scope, "depth": f.config.MaxDepth == kept.MaxDepth,
		"include": slices.Equal(f.config.Include, kept.Include), "exclude": slices.Equal(f.config.Exclude, kept.Exclude),
	}
	for _, flag := range slices.Sorted(maps.Keys(same)) {
		if !same[flag] && f.given(flag) {
			return &usageError{reason: "--" + flag + " does not change a crawl that continues; name the seeds again to change it", help: "indexer crawl"}
		}
	}
	return nil
}
