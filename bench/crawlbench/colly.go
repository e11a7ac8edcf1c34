package crawlbench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/gocolly/colly/v2"

	"github.com/webindexer/indexer/bench/measure"
)

// collyCrawl is the baseline: gocolly/colly fetches and parses the site from seed,
// takes the title and the links of each page, and keeps nothing but, in memory, the
// URLs that it has visited. With a concurrency of 0 it is as colly is by default:
// one request at a time. add may add callbacks.
func collyCrawl(ctx context.Context, seed string, concurrency int, add func(*colly.Collector)) (*measure.Run, error) {
	ctx, fail := context.WithCancelCause(ctx) // the first error ends the crawl
	defer fail(nil)
	// http.DefaultTransport keeps two idle connections a host and would connect anew
	// for most requests here.
	transport := &http.Transport{MaxIdleConns: max(concurrency, 1), MaxIdleConnsPerHost: max(concurrency, 1)}
	defer transport.CloseIdleConnections()
	c := colly.NewCollector(colly.Async(concurrency > 0), colly.StdlibContext(ctx))
	c.WithTransport(transport)
	if err := c.Limit(&colly.LimitRule{DomainGlob: "*", Parallelism: max(concurrency, 1)}); err != nil {
		return nil, fmt.Errorf("colly: %w", err)
	}
	var pages, titles atomic.Int64
	if add != nil {
		add(c)
	}
	c.OnHTML("title", func(*colly.HTMLElement) { titles.Add(1) })
	c.OnHTML("a[href]", func(e *colly.HTMLElement) {
		err := e.Request.Visit(e.Attr("href"))
		if _, visited := errors.AsType[*colly.AlreadyVisitedError](err); err != nil && !visited {
			fail(err)
		}
	})
	c.OnScraped(func(*colly.Response) { pages.Add(1) })
	c.OnError(func(_ *colly.Response, err error) { fail(err) })
	began := time.Now()
	if err := c.Visit(seed); err != nil {
		return nil, fmt.Errorf("colly: %w", err)
	}
	c.Wait()
	r := &measure.Run{Took: time.Since(began), Pages: int(pages.Load())}
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("colly: %w", err)
	}
	if titles.Load() != pages.Load() {
		return nil, fmt.Errorf("colly found %d titles on %d pages", titles.Load(), pages.Load())
	}
	return r, nil
}
