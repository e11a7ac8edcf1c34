package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"indexer/archive"
	"indexer/crawler"
	"indexer/crawler/fetch"
	"indexer/frontier"
	"indexer/page"
)

const crawlHelp = `
Crawl from the seeds, and index each page as it comes: it can be found seconds after
it was fetched. Seeds are files with one URL a line (# begins a comment), URLs, bare
host names, or - for standard input. Without seeds the crawl of the data directory
goes on. The same command again goes on, too, after an interrupt, a crash or
kill -9: what is to be fetched is kept in the data directory.

The crawl stays on the hosts of its seeds unless --scope says otherwise, obeys
robots.txt (RFC 9309), asks one host for one page at a time, and leaves at least
--delay between two requests; longer where a host is slow, says so, or fails.
It ends when nothing is due. With --follow it stays, and visits pages again: often
those that change, rarely the others.

Whoever crawls hosts of others should say with --contact where the operator of the
crawl is found.

The first interrupt lets requests under way end and saves; the second one stops at
once. While it runs, inspect, stats, export and verify ask this process, and query
reads the index files.`

// crawlFlags are the settings of one crawl.
type crawlFlags struct {
	config       frontier.Config
	follow       bool
	warc         string
	allowPrivate bool
	proxy        string
	contact      string
	delay        time.Duration
	concurrency  int
	pages        int64
	bytes        int64
	time         time.Duration
	noSitemaps   bool
}

func (a *app) crawlCommand() *cobra.Command {
	var f crawlFlags
	cmd := &cobra.Command{
		Use:   "crawl [SEEDS.txt|URL|-]…",
		Short: "Crawl from seeds and index as it goes; the same command again goes on",
		Long:  long(crawlHelp, statusDone, statusFailed, statusUsage, statusNoSpace, statusInUse, statusInterrupted),
		Example: examples(
			"indexer seeds.txt",
			"indexer crawl --contact https://example.org/bot example.org",
			"indexer crawl --follow --warc archive/ seeds.txt",
		),
		RunE: func(cmd *cobra.Command, args []string) error { return a.crawl(cmd.Context(), args, f) },
	}
	f.register(cmd)
	a.pipelineFlags(cmd)
	return cmd
}

func (f *crawlFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.config.Scope, "scope", "host", "what is crawled of what the seeds lead to: `page`, host, domain or any")
	flags.IntVar(&f.config.MaxDepth, "depth", -1, "`links` from a seed that are followed; -1: no limit")
	flags.StringArrayVar(&f.config.Include, "include", nil, "`pattern` (RE2) that a URL must match; several: one of them")
	flags.StringArrayVar(&f.config.Exclude, "exclude", nil, "`pattern` (RE2) of URLs that are left out")
	flags.BoolVar(&f.follow, "follow", false, "stay, and visit pages again when they are due")
	flags.StringVar(&f.warc, "warc", "", "write what is fetched to WARC files in this `directory`")
	flags.BoolVar(&f.allowPrivate, "allow-private", false, "also fetch from private, loopback and link-local addresses")
	flags.StringVar(&f.proxy, "proxy", "", "`URL` of a proxy (http, https or socks5) for all requests")
	flags.StringVar(&f.contact, "contact", "", "page or mail `address` of the operator, for the user agent")
	flags.DurationVar(&f.delay, "delay", time.Second, "least `time` between two requests to a host; 0: none")
	flags.IntVar(&f.concurrency, "concurrency", 32, "`number` of requests at a time, over all hosts")
	flags.Int64Var(&f.pages, "max-pages", 0, "end after so many `pages`; 0: no limit")
	flags.Int64Var(&f.bytes, "max-bytes", 0, "end after so many `bytes`; 0: no limit")
	flags.DurationVar(&f.time, "max-time", 0, "end after this `time`; 0: no limit")
	flags.BoolVar(&f.noSitemaps, "no-sitemaps", false, "do not read sitemaps and feeds")
}

// check refuses what cannot be meant, before anything is opened.
func (f *crawlFlags) check() error {
	if err := f.config.Validate(); err != nil {
		return &usageError{reason: err.Error(), help: "indexer crawl"}
	}
	if f.delay < 0 || f.concurrency < 1 || f.concurrency > 10_000 || f.pages < 0 || f.bytes < 0 || f.time < 0 {
		return &usageError{reason: "--delay, --max-pages, --max-bytes and --max-time are not negative; --concurrency is from 1 to 10000", help: "indexer crawl"}
	}
	return nil
}

func (a *app) crawl(ctx context.Context, args []string, f crawlFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	from, err := a.findSeeds(args)
	if err != nil {
		return err
	}
	fetchOptions, err := f.fetchOptions(int64(a.cfg.WARC.MaxBody))
	if err != nil {
		return err
	}
	a.beginsCrawl = true
	s, err := a.open(ctx, true)
	if err != nil {
		return err
	}
	err = a.crawlIn(ctx, s, from, f, fetchOptions)
	return errors.Join(err, s.close(ctx))
}

func (f *crawlFlags) fetchOptions(maxBody int64) (fetch.Options, error) {
	o := fetch.Options{AllowPrivate: f.allowPrivate, Contact: f.contact, MaxBody: maxBody}
	if f.delay == 0 {
		o.MaxIdlePerHost = f.concurrency
	}
	if f.proxy != "" {
		proxy, err := fetch.ParseProxy(f.proxy)
		if err != nil {
			return o, &usageError{reason: err.Error(), help: "indexer crawl"}
		}
		o.Proxy = proxy
	}
	return o, nil
}

// crawlIn crawls in an open data directory.
func (a *app) crawlIn(ctx context.Context, s *session, from foundSeeds, f crawlFlags, fetchOptions fetch.Options) (err error) {
	config, known, err := s.crawlConfig(ctx, f.config, from)
	if err != nil {
		return err
	}
	if len(from.urls) == 0 && !known {
		return &usageError{reason: "there is no crawl in " + a.cfg.Data + " to go on with; name seeds", help: "indexer crawl"}
	}
	if err := s.crawl.Begin(ctx, s.repo.DB(), config, from.urls); err != nil {
		return err
	}
	recorder, err := f.openArchive(fetchOptions)
	if err != nil {
		return err
	}
	fetcher := fetch.New(fetchOptions)
	defer fetcher.Close()
	return s.runCrawler(ctx, f, from.bare, fetcher, recorder)
}

// crawlConfig is what is asked for; a crawl that goes on without seeds keeps what
// it was begun with.
func (s *session) crawlConfig(ctx context.Context, asked frontier.Config, from foundSeeds) (frontier.Config, bool, error) {
	kept, _, known, err := frontier.ReadConfig(ctx, s.repo.DB())
	if err != nil || !known || len(from.urls) > 0 {
		return asked, known, err
	}
	return kept, true, nil
}

// openArchive is nil without --warc.
func (f *crawlFlags) openArchive(o fetch.Options) (*archive.Recorder, error) {
	if f.warc == "" {
		return nil, nil
	}
	agent := o.UserAgent
	if agent == "" {
		agent = fetch.UserAgent("", f.contact)
	}
	return archive.Open(f.warc, agent)
}

// runCrawler puts crawler, frontier and archive together, and runs them.
func (s *session) runCrawler(ctx context.Context, f crawlFlags, bare []page.URL, fetcher *fetch.Fetcher, recorder *archive.Recorder) (err error) {
	var c *crawler.Crawler
	wake := func(host string) { c.Wake(host) }
	front := frontier.New(s.repo.DB(), s.repo, s.crawl, wake)
	var rec crawler.Recorder
	if recorder != nil {
		rec = recorder
		defer func() { err = errors.Join(err, recorder.Close()) }()
	}
	c = crawler.New(f.crawlerOptions(s, bare), front, fetcher, rec)
	s.crawl.Wake(wake)
	return s.watchCrawl(ctx, c)
}

func (f *crawlFlags) crawlerOptions(s *session, bare []page.URL) crawler.Options {
	delay := f.delay
	if delay == 0 {
		delay = -1
	}
	o := crawler.Options{
		Concurrency: f.concurrency, Follow: f.follow, Bare: bare, Log: s.app.log,
		Politeness: crawler.Politeness{MinDelay: delay},
		Limits:     crawler.Limits{Pages: f.pages, Bytes: f.bytes, Time: f.time},
		Sources:    crawler.Sources{NoSitemaps: f.noSitemaps, NoFeeds: f.noSitemaps},
		Settle:     s.repo.Quiesce,
		Paused:     s.watchSpace().pause,
		Loaded: func(ctx context.Context, fetched page.Fetch) error {
			_, err := s.repo.Load(ctx, &fetched)
			return err
		},
	}
	if f.delay == 0 {
		// Somebody who asks for no delay crawls a server of their own.
		o.Politeness.DelayFactor, o.Politeness.PerIP, o.Politeness.PerDomain, o.Politeness.CrawlDelayCap = -1, -1, -1, -1
		o.Politeness.PerHost = f.concurrency
	}
	return o
}

// isFile reports whether an argument names a file that is there.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}
