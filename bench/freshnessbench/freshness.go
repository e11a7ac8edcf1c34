// Package freshnessbench measures the time from a fetch until a query finds the page, at
// several loads and with repositories of several sizes.
package freshnessbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/bench/webgen"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
)

// Options of Run.
type Options struct {
	Sizes  []int         // initial numbers of pages in the repository, ascending
	Loads  []int         // in percent of saturation
	Slice  time.Duration // how long each load lasts
	Sample int           // pages by which saturation is measured
	Repo   repository.Options
	Seed   uint64
	Log    io.Writer
}

// Result has a row for each size and load.
type Result struct {
	Rows []Row `json:"rows"`
}

// Row is what was measured at one load. Times are in milliseconds, from the moment at
// which a fetch was due, so a load that waits for the observers counts as waiting.
type Row struct {
	Pages      int     `json:"pages"`                 // that the repository had
	Saturation float64 `json:"saturation_per_second"` // fetches a second, when they come as fast as they are taken
	Load       int     `json:"load_percent"`
	Fetches    int     `json:"fetches"`
	Found      int     `json:"found"` // of these, searchable pages; the others are redirects and similar
	P50        float64 `json:"p50_ms"`
	P95        float64 `json:"p95_ms"`
	P99        float64 `json:"p99_ms"`
	// Loading99 is the 99th percentile of the time until a fetch was stored.
	Loading99 float64 `json:"loading_p99_ms"`
}

// Run fills a repository step by step. At each size it measures how many fetches a
// second are processed at most, and then sends fetches at shares of that rate: half of
// them new pages, half of them changed ones. They are due at random moments (a Poisson
// process) and do not wait for each other, as those of a crawl of many hosts.
func Run(ctx context.Context, o Options) (*Result, error) {
	res, err := measure.InTemp(func(dir string) (*Result, error) { return run(ctx, dir, o) })
	if err != nil {
		return nil, fmt.Errorf("freshness: %w", err)
	}
	return res, nil
}

func run(ctx context.Context, dir string, o Options) (_ *Result, err error) {
	found := newArrivals()
	o.Repo.Searchable = found.searchable
	repo, err := repository.Open(ctx, dir, o.Repo)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	b := &bench{Options: o, repo: repo, arrivals: found, rng: rand.New(rand.NewPCG(o.Seed, 1))}
	for _, size := range o.Sizes {
		if err := b.size(ctx, size); err != nil {
			return nil, err
		}
	}
	return &Result{b.rows}, nil
}

type bench struct {
	Options
	repo     *repository.Repository
	arrivals *arrivals
	rng      *rand.Rand
	webs     []*webgen.Web // the contents of the repository
	pages    int
	changes  int // pages changed so far
	rows     []Row
}

// size measures at one size.
func (b *bench) size(ctx context.Context, size int) error {
	if err := b.fill(ctx, size-b.pages); err != nil {
		return err
	}
	before := b.pages
	began := time.Now()
	if err := b.fill(ctx, b.Sample); err != nil {
		return err
	}
	saturation := float64(b.Sample) / time.Since(began).Seconds()
	fmt.Fprintf(b.Log, "%d pages: at most %.0f fetches a second\n", before, saturation)
	for _, load := range b.Loads {
		row, err := b.load(ctx, saturation*float64(load)/100)
		if err != nil {
			return err
		}
		row.Pages, row.Saturation, row.Load = before, saturation, load
		b.rows = append(b.rows, row)
		fmt.Fprintln(b.Log, row.text())
	}
	return nil
}

// fill loads the given number of new pages as fast as they are taken, and waits until
// all are searchable.
func (b *bench) fill(ctx context.Context, pages int) error {
	if pages <= 0 {
		return nil
	}
	err := b.newWeb(pages).Each(ctx, b.Repo.Workers, func(ctx context.Context, f *page.Fetch) error {
		_, err := b.repo.Load(ctx, f)
		return err
	})
	if err != nil {
		return err
	}
	return b.repo.Quiesce(ctx)
}

// newWeb adds a web with hosts of its own.
func (b *bench) newWeb(pages int) *webgen.Web {
	web := webgen.New(b.Seed+uint64(len(b.webs)), pages, 0, webgen.DefaultWords)
	b.webs = append(b.webs, web)
	b.pages += pages
	return web
}

// load sends fetches at a rate, and waits until everything is found.
func (b *bench) load(ctx context.Context, perSecond float64) (row Row, err error) {
	fetches := b.fetches(max(int(perSecond*b.Slice.Seconds()), 10))
	b.arrivals.reset()
	stored := make([]time.Duration, len(fetches))
	err = measure.Arrivals(ctx, b.rng, perSecond, len(fetches), b.Repo.Workers, func(ctx context.Context, i int, due time.Time) error {
		b.arrivals.due(fetches[i].URL, due)
		_, err := b.repo.Load(ctx, fetches[i])
		stored[i] = time.Since(due)
		return err
	})
	if err != nil {
		return row, err
	}
	if err := b.repo.Quiesce(ctx); err != nil {
		return row, err
	}
	took := b.arrivals.taken()
	slices.Sort(stored)
	at := func(list []time.Duration, q float64) float64 { return measure.Milliseconds(measure.Quantile(list, q)) }
	return Row{
		Fetches: len(fetches), Found: len(took),
		P50: at(took, 0.50), P95: at(took, 0.95), P99: at(took, 0.99), Loading99: at(stored, 0.99),
	}, nil
}

// fetches makes new and changed pages in turn.
func (b *bench) fetches(n int) []*page.Fetch {
	known := b.webs
	web := b.newWeb((n + 1) / 2)
	list := make([]*page.Fetch, n)
	for i := range list {
		var f page.Fetch
		if i%2 == 0 {
			f = web.Fetch(i / 2)
		} else {
			f = b.changed(known[b.rng.IntN(len(known))])
		}
		list[i] = &f
	}
	return list
}

// changed is a later fetch of a page, with other text.
func (b *bench) changed(web *webgen.Web) page.Fetch {
	f := web.Fetch(web.PageAtOrBefore(b.rng.IntN(web.Pages)))
	b.changes++
	f.Time = f.Time.AddDate(1, 0, 0).Add(time.Duration(b.changes) * time.Second)
	more := fmt.Sprintf("<p>Change number %d of this site.</p></main>", b.changes)
	f.Body = []byte(strings.Replace(string(f.Body), "</main>", more, 1))
	return f
}

func (r *Row) text() string {
	return fmt.Sprintf("%9d %12.0f %7d %8d %8d %9.0f %9.0f %9.0f %14.0f", r.Pages, r.Saturation, r.Load, r.Fetches, r.Found, r.P50, r.P95, r.P99, r.Loading99)
}

// Text is the result as people read it.
func (r *Result) Text() string {
	var b strings.Builder
	b.WriteString("    pages  saturation/s  load %  fetches    found    p50 ms    p95 ms    p99 ms  p99 ms to load\n")
	for _, row := range r.Rows {
		b.WriteString(row.text() + "\n")
	}
	return b.String()
}
