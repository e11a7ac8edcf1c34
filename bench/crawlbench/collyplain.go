package crawlbench

import (
	"context"

	"github.com/gocolly/colly/v2"
	"golang.org/x/sync/errgroup"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/bench/pipelinebench"
)

// collyPlainCrawl is colly as it is by default, with the plain floor of bench pipeline
// added: the title and the text of each page go into a full-text table with a stock
// tokenizer. It is what a short script with the usual libraries does.
func collyPlainCrawl(ctx context.Context, dir, seed string) (r *measure.Run, err error) {
	pages := make(chan pipelinebench.PlainPage, 16)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return pipelinebench.IndexPlain(ctx, dir, pages) })
	g.Go(func() (err error) {
		defer close(pages)
		// colly is done when the last page is inserted, which is after it says so.
		r, err = collyCrawl(ctx, seed, 0, func(c *colly.Collector) {
			c.OnHTML("html", func(e *colly.HTMLElement) {
				select {
				case pages <- pipelinebench.NewPlainPage(e.Request.URL.String(), e.DOM):
				case <-ctx.Done():
				}
			})
		})
		return err
	})
	return r, g.Wait()
}
