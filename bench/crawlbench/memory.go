package crawlbench

import (
	"context"
	"fmt"
	"strings"

	"github.com/webindexer/indexer/bench/measure"
)

// MemoryResult says what a crawl holds in memory as the known URLs grow.
type MemoryResult struct {
	Pages   int             `json:"pages"`
	Seconds float64         `json:"seconds"`
	Rate    float64         `json:"pages_per_second"`
	Steps   []HeapStep      `json:"steps"` // one after each tenth of the pages, and the end
	Growth  float64         `json:"growth"`
	Stages  []measure.Stage `json:"stages"`
}

// HeapStep is the heap over a part of the crawl.
type HeapStep struct {
	Pages int `json:"pages"` // at its end
	measure.Heap
}

// memorySteps is how many parts the crawl is seen in.
const memorySteps = 10

// The site of Memory: tiny pages, whose links make known twice the URLs that
// are fetched so far.
const (
	memoryLinks = 3
	memoryTree  = 2
	memoryBytes = 300
)

// Memory crawls a site of many tiny pages, and reports the heap over
// each tenth. The bar is that it is flat: Growth is the least that was alive in the
// last tenth over the least in the fourth, when caches and memtables are full.
func Memory(ctx context.Context, o Options) (*MemoryResult, error) {
	s := newSite(o.Pages, memoryLinks, memoryTree, memoryBytes)
	res := &MemoryResult{Pages: o.Pages}
	r, err := s.crawled(ctx, &Side{Name: "our crawler", crawl: func(seed string) (*measure.Run, error) {
		return measure.InTemp(func(dir string) (*measure.Run, error) {
			watch := measure.WatchHeap()
			defer watch.Close()
			r, err := ourCrawl(ctx, dir, seed, o, nil, func(pages int) {
				if len(res.Steps) < memorySteps-1 && pages >= (len(res.Steps)+1)*o.Pages/memorySteps {
					res.step(o, pages, watch.Take())
				}
			})
			res.step(o, o.Pages, watch.Take())
			return r, err
		})
	}})
	if err != nil {
		return nil, fmt.Errorf("crawl: %w", err)
	}
	res.Seconds, res.Stages = r.Took.Seconds(), measure.WithShares(r.Stages)
	res.Rate = float64(r.Pages) / res.Seconds
	res.Growth = growth(res.Steps)
	return res, nil
}

func (res *MemoryResult) step(o Options, pages int, h measure.Heap) {
	res.Steps = append(res.Steps, HeapStep{Pages: pages, Heap: h})
	fmt.Fprintf(o.Log, "%9d pages: heap %.0f to %.0f MB alive, %.0f MB with garbage\n", pages, float64(h.Least)/1e6, float64(h.Live)/1e6, float64(h.Objects)/1e6)
}

// growth is 0 where there are too few steps.
func growth(steps []HeapStep) float64 {
	if len(steps) < memorySteps || steps[3].Least == 0 {
		return 0
	}
	return float64(steps[len(steps)-1].Least) / float64(steps[3].Least)
}

// Text is the result as people read it.
func (res *MemoryResult) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d pages in %.1f s, %.0f pages/s\n", res.Pages, res.Seconds, res.Rate)
	b.WriteString("the heap over each tenth, least and most:\n")
	for _, s := range res.Steps {
		fmt.Fprintf(&b, "  up to %9d pages  %8s to %8s alive  %9s with garbage\n", s.Pages, megabytes(s.Least), megabytes(s.Live), megabytes(s.Objects))
	}
	if res.Growth > 0 {
		fmt.Fprintf(&b, "least alive in the last tenth: %.2f of the fourth\n", res.Growth)
	}
	b.WriteString("\nwhere it went, waiting included:\n")
	measure.StagesText(&b, res.Stages)
	return b.String()
}

func megabytes(n uint64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
