package crawlbench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/page"
)

// bareCrawl does what colly does: it fetches and parses pages with our fetcher and
// parser, as many at a time, and keeps a set of URLs in memory. It calls each with every
// page; nil keeps nothing.
func bareCrawl(ctx context.Context, seed string, concurrency int, each func(*page.Fetch, *page.Document) error) (*measure.Run, error) {
	first, err := page.ParseURL(seed)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	b := &bare{each: each, fetcher: fetch.New(fetch.Options{AllowPrivate: true, MaxIdlePerHost: concurrency})}
	defer b.fetcher.Close()
	b.more = sync.NewCond(&b.mu)
	b.add(first)
	var work sync.WaitGroup
	for range concurrency {
		work.Go(func() { b.work(ctx) })
	}
	work.Wait()
	return &measure.Run{Took: time.Since(began), Pages: b.pages}, errors.Join(b.err, ctx.Err())
}

type bare struct {
	fetcher *fetch.Fetcher
	each    func(*page.Fetch, *page.Document) error

	mu    sync.Mutex
	more  *sync.Cond
	known map[page.URL]bool
	todo  []page.URL
	busy  int
	pages int
	err   error
}

func (b *bare) add(urls ...page.URL) {
	for _, u := range urls {
		if !b.known[u] {
			if b.known == nil {
				b.known = make(map[page.URL]bool)
			}
			b.known[u] = true
			b.todo = append(b.todo, u)
		}
	}
}

// work fetches until no URL is left, or a fetch fails.
func (b *bare) work(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.more.Broadcast()
	for {
		for len(b.todo) == 0 && b.busy > 0 && b.err == nil {
			b.more.Wait()
		}
		if len(b.todo) == 0 || b.err != nil {
			return
		}
		u := b.todo[0]
		b.todo = b.todo[1:]
		b.busy++
		b.mu.Unlock()
		links, err := b.visit(ctx, u)
		b.mu.Lock()
		b.busy--
		b.pages++
		b.err = errors.Join(b.err, err)
		b.add(links...)
		b.more.Broadcast()
	}
}

func (b *bare) visit(ctx context.Context, u page.URL) ([]page.URL, error) {
	res := b.fetcher.Fetch(ctx, fetch.Request{URL: u})
	if res.Class != fetch.OK || res.Fetch.Status != 200 {
		return nil, fmt.Errorf("fetch %s: status %d, %w", u, res.Fetch.Status, res.Cause)
	}
	doc := page.Interpret(&res.Fetch)
	links := make([]page.URL, len(doc.Links))
	for i, l := range doc.Links {
		links[i] = l.Target
	}
	if b.each == nil {
		return links, nil
	}
	return links, b.each(&res.Fetch, &doc)
}

// floorCrawl is bareCrawl with the pages put into index files in dir, in bulk.
func floorCrawl(ctx context.Context, dir, seed string, o Options) (*measure.Run, error) {
	return measure.InBulk(ctx, dir, o.Repo.Sync, o.Repo.Workers, func(ctx context.Context, b *measure.Bulk) error {
		_, err := bareCrawl(ctx, seed, o.Concurrency, func(f *page.Fetch, doc *page.Document) error { return b.Put(ctx, f, doc) })
		return err
	})
}
