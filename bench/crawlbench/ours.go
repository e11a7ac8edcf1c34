package crawlbench

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/txn"
)

// ourCrawl crawls from seed into a fresh repository in dir, wired as the command line
// wires `crawl --delay 0 --per-host N --allow-private`, until everything is indexed. The
// recorder may be nil. It calls during every 50 ms with the number of pages done so far;
// during may be nil.
func ourCrawl(ctx context.Context, dir, seed string, o Options, recorder crawler.Recorder, during func(pages int)) (_ *measure.Run, err error) {
	began := time.Now()
	crawl := &frontier.Crawl{Ranks: observers.RankOf}
	opts := o.Repo
	opts.Crawl = func(ctx context.Context, db *txn.DB) ([]notify.Observer, error) { return crawl.Resume(ctx, db, true) }
	r, err := repository.Open(ctx, dir, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	u, err := page.ParseURL(seed)
	if err != nil {
		return nil, err
	}
	config := frontier.Config{Scope: "host", MaxDepth: -1}
	if err := crawl.Begin(ctx, r.DB(), config, []page.URL{u}); err != nil {
		return nil, err
	}
	fetcher := fetch.New(fetch.Options{AllowPrivate: true, MaxIdlePerHost: o.Concurrency})
	defer fetcher.Close()
	fetches := &timedFetcher{Fetcher: fetcher}
	var c *crawler.Crawler
	wake := func(host string) { c.Wake(host) }
	front := &timedFrontier{Frontier: frontier.New(r.DB(), r, crawl, wake)}
	c = crawler.New(rudeOptions(r, o.Concurrency), front, fetches, recorder)
	crawl.Wake(wake)
	stop := measure.Every(50*time.Millisecond, func() {
		if during != nil {
			during(int(c.Status(0).Pages))
		}
	})
	err = c.Run(ctx)
	stop()
	if err != nil {
		return nil, err
	}
	if err := r.Quiesce(ctx); err != nil {
		return nil, err
	}
	took := time.Since(began)
	live := r.Live()
	loaded := time.Unix(0, front.last.Load()).Sub(began)
	stages := append([]measure.Stage{fetches.stage(), front.visited.stage("load"), front.due.stage("queue")}, measure.StagesOf(live)...)
	return &measure.Run{Took: took, Loaded: loaded, Pages: int(c.Status(0).Statuses[200]), Stages: stages, Latency: live.FetchToSearchableMS}, ctx.Err()
}

// rudeOptions turn politeness off, because the server is our own.
func rudeOptions(r *repository.Repository, concurrency int) crawler.Options {
	return crawler.Options{
		Concurrency: concurrency,
		Politeness: crawler.Politeness{
			MinDelay: -1, DelayFactor: -1, PerIP: -1, PerDomain: -1, CrawlDelayCap: -1, PerHost: concurrency,
		},
		Quiesce: r.Quiesce,
		Loading: r.Loading,
		Loaded: func(ctx context.Context, f page.Fetch) error {
			_, err := r.Load(ctx, &f)
			return err
		},
	}
}

// clock adds up how long something took, over all goroutines.
type clock struct{ runs, rows, ns atomic.Int64 }

func (c *clock) since(began time.Time, rows int) {
	c.runs.Add(1)
	c.rows.Add(int64(rows))
	c.ns.Add(int64(time.Since(began)))
}

func (c *clock) stage(name string) measure.Stage {
	return measure.Stage{Name: name, Seconds: time.Duration(c.ns.Load()).Seconds(), Runs: c.runs.Load(), Rows: c.rows.Load()}
}

type timedFetcher struct {
	crawler.Fetcher
	clock clock
}

func (f *timedFetcher) stage() measure.Stage { return f.clock.stage("fetch") }

func (f *timedFetcher) Fetch(ctx context.Context, r fetch.Request) fetch.Result {
	defer f.clock.since(time.Now(), 1)
	return f.Fetcher.Fetch(ctx, r)
}

type timedFrontier struct {
	crawler.Frontier
	visited, due clock
	last         atomic.Int64 // visit's end, in Unix ns
}

func (f *timedFrontier) Visited(ctx context.Context, v crawler.Visit) error {
	began := time.Now()
	err := f.Frontier.Visited(ctx, v)
	f.visited.since(began, 1)
	f.last.Store(time.Now().UnixNano())
	return err
}

func (f *timedFrontier) Due(ctx context.Context, host string, now time.Time, n int) ([]crawler.Job, time.Time, error) {
	began := time.Now()
	jobs, next, err := f.Frontier.Due(ctx, host, now, n)
	f.due.since(began, len(jobs))
	return jobs, next, err
}
