package bench

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"indexer/repository"
)

// CrawlOptions of Crawl and CrawlMemory.
type CrawlOptions struct {
	Pages       int // of the site
	Concurrency int // requests at a time, of both
	Workers     int // of our observers
	Rounds      int // both crawlers, in turn, this often; medians are reported
	Repo        repository.Options
	Log         io.Writer // a line a round
}

// CrawlResult compares a crawl into a fresh repository with one that keeps nothing.
type CrawlResult struct {
	Pages       int       `json:"pages"` // per round
	Concurrency int       `json:"concurrency"`
	Colly       []float64 `json:"colly_seconds"`
	Ours        []float64 `json:"our_seconds"` // until everything is indexed
	// Loaded is the part of Ours until the last page was fetched and stored; what
	// follows is indexing alone.
	Loaded []float64 `json:"our_loaded_seconds"`
	// CollyRate and OurRate are pages per second, by the median round.
	CollyRate float64 `json:"colly_pages_per_second"`
	OurRate   float64 `json:"our_pages_per_second"`
	Ratio     float64 `json:"ratio"` // OurRate / CollyRate
	// Stages tell where our time went in the last round.
	Stages              []Stage              `json:"stages"`
	Heap                Heap                 `json:"heap"` // the peak of our rounds, with the site's server
	FetchToSearchableMS repository.LatencyMS `json:"fetch_to_searchable_ms"`
}

// The site of Crawl: pages of about 8 KB with 20 links, of which four are new.
const (
	crawlLinks = 20
	crawlTree  = 4
	crawlBytes = 8 << 10
)

// Crawl measures the pages per second of a crawl of a generated site on loopback,
// politeness off, with everything stored and indexed, beside gocolly/colly, which
// fetches and parses the same site with as many requests at a time and keeps
// nothing. The server runs in this process in both cases, and takes its share of
// the processors from both.
func Crawl(ctx context.Context, o CrawlOptions) (*CrawlResult, error) {
	s := newSite(o.Pages, crawlLinks, crawlTree, crawlBytes)
	res := &CrawlResult{Pages: o.Pages, Concurrency: o.Concurrency}
	for round := range max(o.Rounds, 1) {
		colly, err := s.crawled("colly", func(seed string) (*run, error) { return collyCrawl(ctx, seed, o.Concurrency) })
		if err != nil {
			return nil, fmt.Errorf("bench crawl: %w", err)
		}
		var heap Heap
		ours, err := s.crawled("our crawler", func(seed string) (*run, error) {
			return inTemp(func(dir string) (*run, error) {
				watch := watchHeap()
				defer func() { heap = watch.take(); watch.close() }()
				return ourCrawl(ctx, dir, seed, o, nil)
			})
		})
		if err != nil {
			return nil, fmt.Errorf("bench crawl: %w", err)
		}
		res.add(colly, ours, heap)
		fmt.Fprintf(o.Log, "round %d: colly %.2f s, ours %.2f s (all stored after %.2f s)\n", round+1, colly.took.Seconds(), ours.took.Seconds(), ours.loaded.Seconds())
	}
	res.CollyRate = float64(res.Pages) / median(res.Colly)
	res.OurRate = float64(res.Pages) / median(res.Ours)
	res.Ratio = res.OurRate / res.CollyRate
	return res, nil
}

func (res *CrawlResult) add(colly, ours *run, heap Heap) {
	res.Colly = append(res.Colly, colly.took.Seconds())
	res.Ours = append(res.Ours, ours.took.Seconds())
	res.Loaded = append(res.Loaded, ours.loaded.Seconds())
	res.Stages, res.FetchToSearchableMS = withShares(ours.stages), ours.latency
	if res.Heap.Least == 0 || heap.Least < res.Heap.Least {
		res.Heap.Least = heap.Least
	}
	res.Heap.Live, res.Heap.Objects = max(res.Heap.Live, heap.Live), max(res.Heap.Objects, heap.Objects)
}

// crawled has a crawler crawl the site, and checks that it fetched all of it: a
// crawler that misses pages would be fast. (Colly fetches a few pages twice, as it
// looks for a URL among the visited ones and adds it in two steps; that is its
// affair.) What the one before left in memory is given back first.
func (s *site) crawled(who string, crawl func(seed string) (*run, error)) (r *run, err error) {
	runtime.GC()
	debug.FreeOSMemory()
	err = s.serve(func(seed string) error {
		if r, err = crawl(seed); err == nil && r.pages < s.pages {
			err = fmt.Errorf("%s fetched %d of the site's %d pages", who, r.pages, s.pages)
		}
		return err
	})
	return r, err
}
