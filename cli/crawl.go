package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/archive"
	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/internal/sleep"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/engines"
)

const crawlHelp = `
Crawl from the seeds, and index each page as it arrives: it can be searched seconds
after it was fetched. A seed is a file with one URL per line (# starts a comment), a
URL, a host name, or - for standard input. Without seeds, the crawl in the data
directory continues, with its scope, depth and patterns. Running the same command again
also continues it, even after an interrupt, a crash or kill -9, because the list of URLs
to fetch is stored in the data directory.

All flags except --again can also be set in config.yaml, most of them in section crawl,
or in the environment (INDEXER_CRAWL_CONTACT, INDEXER_CRAWL_DELAY, …). Recrawl intervals
and request headers can be set only there.

The crawl stays on the hosts of its seeds unless --scope says otherwise. It obeys
robots.txt (RFC 9309), sends one request at a time to each host, and waits at least
--delay between two requests; longer if a host is slow, asks for it, or fails.
--delay 0 removes only the pause: each host, and all hosts at one address
together, still get one request at a time, and a Crawl-delay in robots.txt still
applies. On your own servers, --per-host N allows N requests at a time.

The crawl ends when no URL is due. With --follow it keeps running and visits pages
again: often if they change, rarely if they do not. --max-pages N ends it after N
visits. A visit is the request for one URL, whatever the result: a page, a redirect, a
404, a failure. The target of a redirect is a separate visit. Requests for robots.txt,
sitemaps, feeds and probes are not visits. --max-bytes counts everything received;
requests in progress are completed when the limit is reached. Running the same command
again makes the next N visits.

If the host of a seed does not answer, the crawl says so at once, and tries it again
as long as there is other work; then it ends. A crawl that could not fetch anything
fails with status 1, and the same command tries again.

--again URL… continues the crawl in the data directory with these URLs, even if they
are not due. Scope, robots.txt and delays still apply; the crawl reports URLs that they
exclude. If another process is crawling in the data directory, that process makes the
visits.

If you crawl hosts that are not yours, use --contact to tell their operators how to
reach you.

In a store that several processes share, any number of processes may crawl: they divide
the hosts among themselves, workers run the observers, and each ends when nothing
is due in the whole crawl. Limits such as --max-pages apply to each process, and so does
the directory of --warc. See docs/deployment.md.

The first interrupt (Ctrl-C) completes the requests in progress, saves, reports the
remaining work, and ends with status 130, or 0 if there is none. A second one stops at
once. A server that does not crawl releases the data directory for the crawl and takes
it back afterwards. While the crawl runs, other commands work: inspect, stats, export
and verify ask this process, and query reads the index files.`

func (a *app) crawlCommand() *cobra.Command {
	var again []string
	cmd := &cobra.Command{
		Use:   "crawl [SEEDS.txt|URL|-]…",
		Short: "Crawl from seeds and index as it goes; run it again to continue",
		Long:  long(crawlHelp, statusDone, statusFailed, statusUsage, statusInUse),
		Example: examples(
			"indexer seeds.txt",
			"indexer crawl --contact https://example.org/bot example.org",
			"indexer crawl --follow --warc archive/ seeds.txt",
			"indexer crawl --again https://example.org/news https://example.org/prices",
		),
		RunE: func(cmd *cobra.Command, args []string) error {
			f := flagsOf(a.cfg.Crawl)
			f.given = cmd.Flags().Changed
			args, err := f.takeAgain(again, args)
			if err != nil {
				return err
			}
			return a.crawl(cmd.Context(), args, f)
		},
	}
	registerCrawl(cmd, a.cfg.Crawl)
	cmd.Flags().StringArrayVar(&again, "again", nil, "visit this `URL` now, even if it is not due; arguments that are URLs are visited too")
	a.pipelineFlags(cmd)
	return cmd
}

func (a *app) crawl(ctx context.Context, args []string, f crawlFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	from, err := a.findSeeds(ctx, args, f.config)
	if err != nil {
		return err
	}
	if len(from.urls) == 0 && !a.isShared() {
		err := checkDataDir(a.cfg.Data, false, a.nameInData(f.warc))
		if errors.Is(err, errNoData) {
			return a.noCrawl() // without creating the directory
		}
		if err != nil {
			return err
		}
	}
	fetchOptions, err := f.fetchOptions(int64(a.cfg.WARC.MaxBody))
	if err != nil {
		return err
	}
	if err := a.prepareArchive(f.warc); err != nil {
		return err
	}
	a.beginsCrawl, a.archive = true, f.warc
	for r := new(rejoins); ; {
		err := a.crawlOnce(ctx, from, &f, fetchOptions)
		if ctx.Err() != nil || !r.allow(err, time.Now()) {
			return err
		}
		a.log.Warn("joins the crawl again", zap.Error(err))
		if err := sleep.For(ctx, rejoinsPause); err != nil {
			return err
		}
	}
}

func (a *app) crawlOnce(ctx context.Context, from foundSeeds, f *crawlFlags, fetchOptions fetch.Options) error {
	s, err := a.openToLoad(ctx)
	if errors.Is(err, store.ErrInUse) && len(from.urls) == 0 && len(f.again) > 0 {
		return a.ask(ctx, a.request("again", urlStrings(f.again)...), a.stdout)
	}
	if err != nil {
		return notOpened{err}
	}
	err = a.crawlIn(ctx, s, from, f, fetchOptions)
	return errors.Join(err, s.close(ctx))
}

func (a *app) noCrawl() error {
	where := a.cfg.Data
	if a.isShared() {
		where = engines.Redact(a.cfg.Store)
	}
	return noCrawlIn(where)
}

func noCrawlIn(where string) error {
	return &usageError{reason: "there is no crawl in " + where + " to continue; name seeds", help: "indexer crawl"}
}

func (f *crawlFlags) fetchOptions(maxBody int64) (fetch.Options, error) {
	o := fetch.Options{AllowPrivate: f.allowPrivate, Contact: f.contact, UserAgent: f.userAgent, MaxBody: maxBody}
	if f.perHost > 2 {
		o.MaxIdlePerHost = f.perHost
	}
	var err error
	if o.Headers, err = secretHeaders(f.headers); err != nil {
		return o, err
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
func (a *app) crawlIn(ctx context.Context, s *session, from foundSeeds, f *crawlFlags, fetchOptions fetch.Options) (err error) {
	config, known, err := s.crawlConfig(ctx, f, from)
	if err != nil {
		return err
	}
	if len(from.urls) == 0 && !known {
		return a.noCrawl()
	}
	s.continues = known
	if err := s.crawl.Begin(ctx, s.repo.DB(), config, from.urls); err != nil {
		return err
	}
	if err := s.askAgain(ctx, f.again); err != nil {
		return err
	}
	if s.isDivided() {
		fetchOptions.Guard = s.deployment.coordination.Liveness.Valid
	}
	if f.warc != "" {
		lock, err := lockArchive(f.warc)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, lock.Close()) }()
	}
	recorder, err := f.openArchive(fetchOptions, func(fetched *page.Fetch) error {
		return frontier.LoadLost(ctx, s.repo.DB(), s.repo, fetched)
	})
	if err != nil {
		return err
	}
	fetcher := fetch.New(fetchOptions)
	defer fetcher.Close()
	return s.runCrawler(ctx, f, from.bare, fetcher, recorder)
}

// crawlConfig returns the configuration of the crawl: the given one, or, if a crawl
// continues without seeds, the one that it was started with.
func (s *session) crawlConfig(ctx context.Context, f *crawlFlags, from foundSeeds) (frontier.Config, bool, error) {
	kept, _, known, err := frontier.ReadConfig(ctx, s.repo.DB())
	if err != nil || !known || len(from.urls) > 0 {
		return f.config, known, err
	}
	if f.config.MaxPagesPerHost > 0 || f.given("max-pages-per-host") {
		kept.MaxPagesPerHost = f.config.MaxPagesPerHost // so that the limit can be raised
	}
	return kept, true, f.checkKept(kept)
}

// prepareArchive creates the directory of --warc and checks that it is writable. It runs
// before the data directory is created, so that a mistake leaves no crawl behind.
func (a *app) prepareArchive(dir string) error {
	if dir == "" {
		return nil
	}
	if err := a.refuseOwn("indexer crawl", "--warc", dir); err != nil {
		return err
	}
	unusable := func(err error) error {
		return &inputError{what: dir, reason: fmt.Sprintf("cannot write WARC files there: %v", err)}
	}
	if err := os.MkdirAll(dir, a.madeIn(dir)); err != nil {
		return unusable(err)
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return unusable(err)
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		return unusable(err)
	}
	return nil
}

// openArchive returns nil without --warc. It passes on the fetches in files that a killed run
// left: their URLs may still be due.
func (f *crawlFlags) openArchive(o fetch.Options, left func(*page.Fetch) error) (*archive.Recorder, error) {
	if f.warc == "" {
		return nil, nil
	}
	agent := o.UserAgent
	if agent == "" {
		agent = fetch.UserAgent("", f.contact)
	}
	if err := archive.EachLeft(f.warc, left); err != nil {
		return nil, err
	}
	return archive.Open(f.warc, agent)
}

// runCrawler wires crawler, frontier and archive together, and runs them.
func (s *session) runCrawler(ctx context.Context, f *crawlFlags, bare []page.URL, fetcher *fetch.Fetcher, recorder *archive.Recorder) (err error) {
	var c *crawler.Crawler
	wake := func(host string) { c.Wake(host) }
	front := frontier.New(s.repo.DB(), s.repo, s.crawl, wake)
	var rec crawler.Recorder
	if recorder != nil {
		rec = recorder
		defer func() {
			end := recorder.Close
			if c != nil && c.Failed() {
				end = recorder.Leave
			}
			err = errors.Join(err, end())
		}()
	}
	o := f.crawlerOptions(s, bare)
	member, err := s.joinCrawl(ctx, front, &o)
	if err != nil {
		return err
	}
	c = crawler.New(o, front, fetcher, rec)
	if member != nil {
		member.Start(ctx, c)
	}
	s.crawl.Wake(wake)
	s.crawler.Store(c)
	defer s.crawler.Store(nil)
	defer func() { f.spend(c.Status(0)) }()
	return s.watchCrawl(ctx, c, member)
}

// Shares of the setting memory, as divisors.
const (
	bodiesShare = 4 // for large bodies, until they are stored
	rulesShare  = 8 // for large robots.txt files with their rules
)

func (f *crawlFlags) crawlerOptions(s *session, bare []page.URL) crawler.Options {
	return crawler.Options{
		Concurrency: f.concurrency, Follow: f.follow, Bare: bare, Continues: s.continues, Log: s.app.log,
		Politeness: f.politeness(),
		Revisits:   crawler.Revisits{FirstInterval: f.first, MinInterval: f.least, MaxInterval: f.most},
		Limits:     crawler.Limits{Pages: f.pages, Bytes: f.bytes, Time: f.time},
		Sources:    crawler.Sources{NoSitemaps: f.noSitemaps, NoFeeds: f.noSitemaps, Icons: f.icons},
		Memory:     crawler.Memory{Bodies: s.app.cfg.MemoryBytes() / bodiesShare, Rules: s.app.cfg.MemoryBytes() / rulesShare},
		Quiesce:    s.repo.Quiesce,
		Loading:    s.repo.Loading,
		Paused:     s.watchSpace().pause,
		Loaded: func(ctx context.Context, fetched page.Fetch) error {
			_, err := s.repo.Load(ctx, &fetched)
			return err
		},
	}
}

// politeness returns the limits per host. --delay 0 removes the pause between two requests
// and nothing else: a Crawl-delay still applies, and a host, like all hosts at one address
// together, gets one request at a time unless --per-host allows more.
func (f *crawlFlags) politeness() crawler.Politeness {
	p := crawler.Politeness{MinDelay: f.delay, PerHost: f.perHost}
	if f.delay == 0 {
		p.MinDelay, p.DelayFactor = -1, -1
	}
	return p
}
