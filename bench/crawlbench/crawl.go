// Package crawlbench crawls a generated site and compares the rate with crawlers that store
// nothing. It also measures how much memory a crawl takes.
package crawlbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/repository"
)

// Options of Run and Memory.
type Options struct {
	Pages       int                // of the site
	Concurrency int                // requests at a time, of both
	Rounds      int                // both crawlers, in turn, this often; medians are reported
	Repo        repository.Options // its Workers are also those of the floor
	Log         io.Writer          // a line a round
}

// Result compares a crawl into a fresh repository with crawls that keep nothing.
type Result struct {
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
	// SyncRatio is OurRate over the rate of colly as it is by default: one request
	// at a time.
	SyncRatio float64 `json:"ratio_to_synchronous_colly"`
	// PlainRatio is OurRate over the rate of that colly with a plain index.
	PlainRatio float64 `json:"ratio_to_synchronous_colly_with_plain_index"`
	// ReplayCPU is the processor time of a page of our crawl over that of a replay of
	// the same pages; ArchivedCPU is the same for the crawl that recorded them.
	ReplayCPU   float64 `json:"cpu_ratio_to_replay"`
	ArchivedCPU float64 `json:"archived_cpu_ratio_to_replay"`
	// Sides are all crawls of a round, in their order.
	Sides []*Side `json:"sides"`
	// Stages tell where our time went in the last round.
	Stages              []measure.Stage      `json:"stages"`
	Heap                measure.Heap         `json:"heap"` // the peak of our rounds
	FetchToSearchableMS repository.LatencyMS `json:"fetch_to_searchable_ms"`
}

// The site of Run: pages of about 8 KB with 20 links, four of them to new pages.
const (
	crawlLinks = 20
	crawlTree  = 4
	crawlBytes = 8 << 10
)

// Run measures the pages per second of a crawl of a generated site on loopback,
// politeness off, with everything stored and indexed. Beside it gocolly/colly fetches
// and parses the same site with as many requests at a time and keeps nothing. The
// server is a process of its own, so that its processor time can be told from the
// crawlers'.
//
// Further sides do part of our work, so that the cost of each part shows: fetching and
// parsing alone, and that with the same index filled in bulk. A crawl that records what
// it fetches, and a replay of these records, show what finding and fetching cost.
func Run(ctx context.Context, o Options) (_ *Result, err error) {
	s := newSite(o.Pages, crawlLinks, crawlTree, crawlBytes)
	res := &Result{Pages: o.Pages, Concurrency: o.Concurrency}
	var records archived
	defer func() { err = errors.Join(err, records.remove()) }()
	sides := res.sides(ctx, o, &records)
	for round := range max(o.Rounds, 1) {
		for _, side := range sides {
			r, err := s.crawled(ctx, side)
			if err != nil {
				return nil, fmt.Errorf("crawl: %w", err)
			}
			side.add(r)
		}
		colly, ours := sides[0].last, sides[len(sides)-1].last
		res.Loaded = append(res.Loaded, ours.Loaded.Seconds())
		res.Stages, res.FetchToSearchableMS = measure.WithShares(ours.Stages), ours.Latency
		fmt.Fprintf(o.Log, "round %d: colly %.2f s, ours %.2f s (all stored after %.2f s)\n", round+1, colly.Took.Seconds(), ours.Took.Seconds(), ours.Loaded.Seconds())
	}
	res.end(sides)
	return res, nil
}

// sides lists the crawlers of a round: colly first, we last.
func (res *Result) sides(ctx context.Context, o Options, records *archived) []*Side {
	return []*Side{
		{Name: "colly", What: "fetches and parses, keeps nothing", crawl: func(seed string) (*measure.Run, error) {
			return collyCrawl(ctx, seed, o.Concurrency, nil)
		}},
		{Name: "colly-sync", What: "the same by default: one request at a time", crawl: func(seed string) (*measure.Run, error) {
			return collyCrawl(ctx, seed, 0, nil)
		}},
		{Name: "colly-plain", What: "and with a plain full-text index", crawl: func(seed string) (*measure.Run, error) {
			return measure.InTemp(func(dir string) (*measure.Run, error) { return collyPlainCrawl(ctx, dir, seed) })
		}},
		{Name: "parse", What: "our fetcher and parser, keeps nothing", crawl: func(seed string) (*measure.Run, error) {
			return bareCrawl(ctx, seed, o.Concurrency, nil)
		}},
		{Name: "floor", What: "and indexes in bulk, stores nothing else", crawl: func(seed string) (*measure.Run, error) {
			return measure.InTemp(func(dir string) (*measure.Run, error) { return floorCrawl(ctx, dir, seed, o) })
		}},
		{Name: "archived", What: "indexer, and records what it fetches", crawl: func(seed string) (*measure.Run, error) {
			return records.record(ctx, seed, o)
		}},
		{Name: "replay", What: "loads these records instead of fetching", offline: true, crawl: func(string) (*measure.Run, error) {
			return records.replay(ctx, o)
		}},
		{Name: "indexer", What: "everything stored and indexed", crawl: func(seed string) (*measure.Run, error) {
			return measure.InTemp(func(dir string) (*measure.Run, error) {
				watch := measure.WatchHeap()
				defer func() { res.Heap.Widen(watch.Take()); watch.Close() }()
				return ourCrawl(ctx, dir, seed, o, nil, nil)
			})
		}},
	}
}

// end fills in what follows from all rounds.
func (res *Result) end(sides []*Side) {
	named := make(map[string]*Side)
	for _, side := range sides {
		side.end(res.Pages)
		named[side.Name] = side
	}
	colly, ours, replay := named["colly"], named["indexer"], named["replay"]
	res.Sides, res.Colly, res.Ours = sides, colly.Seconds, ours.Seconds
	res.CollyRate, res.OurRate = colly.Rate, ours.Rate
	res.Ratio, res.SyncRatio, res.PlainRatio = ours.Rate/colly.Rate, ours.Rate/named["colly-sync"].Rate, ours.Rate/named["colly-plain"].Rate
	if replay.CPU > 0 { // unknown on some systems
		res.ReplayCPU, res.ArchivedCPU = ours.CPU/replay.CPU, named["archived"].CPU/replay.CPU
	}
}

// Text is the result as people read it.
func (res *Result) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d pages, %d requests at a time; rounds: %d\n", res.Pages, res.Concurrency, len(res.Ours))
	fmt.Fprintf(&b, "%-11s %8s %12s %12s\n", "", "pages/s", "CPU ms/page", "server's")
	for _, side := range res.Sides {
		fmt.Fprintf(&b, "%-11s %8.0f %12.2f %12.2f  %s\n", side.Name, side.Rate, side.CPU, side.Server, side.What)
	}
	fmt.Fprintf(&b, "indexer: %.2f of colly, %.2f of colly by default, %.2f of that with a plain index\n", res.Ratio, res.SyncRatio, res.PlainRatio)
	fmt.Fprintf(&b, "indexer: %.2f times the processor time of a replay of the same pages, and %.2f times when it records them\n", res.ReplayCPU, res.ArchivedCPU)
	fmt.Fprintf(&b, "heap of indexer, at most %s alive, %s with garbage\n", megabytes(res.Heap.Live), megabytes(res.Heap.Objects))
	b.WriteString("\nwhere indexer's last round went, waiting included:\n")
	measure.StagesText(&b, res.Stages)
	return b.String()
}

// crawled measures one side, and checks that it had all pages of the site: a crawler
// that misses pages would be fast. (Colly fetches a few pages twice, because it looks
// for a URL among the visited ones and adds it in two steps.) The memory that the side
// before it left is given back first.
func (s *site) crawled(ctx context.Context, side *Side) (r *measure.Run, err error) {
	runtime.GC()
	debug.FreeOSMemory()
	crawl := func(seed string) error {
		used := measure.ProcessorTime()
		if r, err = side.crawl(seed); err != nil {
			return err
		}
		r.CPU = measure.ProcessorTime() - used
		if r.Pages < s.pages {
			return fmt.Errorf("%s fetched %d of the site's %d pages", side.Name, r.Pages, s.pages)
		}
		return nil
	}
	if side.offline {
		err := crawl("")
		return r, err
	}
	server, err := s.serveApart(ctx, crawl)
	if r != nil {
		r.Server = server
	}
	return r, err
}
