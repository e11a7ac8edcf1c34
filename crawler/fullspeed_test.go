package crawler

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/page"
)

// TestFullSpeed: a crawl says that it is loading while all its requests are under way and pages come
// fast: not if they come slowly, and no longer when servers stop answering. One processor counts.
func TestFullSpeed(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, c := range []struct {
		name        string
		concurrency int
		pages       int
		took        time.Duration // for a page
		hanging     int           // pages that take 10 s, at the end
		want        []time.Duration
	}{
		{"as fast as possible", 4, 2000, 5 * time.Millisecond, 0, []time.Duration{250 * time.Millisecond, 2500 * time.Millisecond}},
		{"slow servers", 4, 100, 50 * time.Millisecond, 0, nil},
		{"fewer requests than possible", 100, 1000, 5 * time.Millisecond, 0, nil},
		{"servers stop answering", 4, 1000, 5 * time.Millisecond, 4, []time.Duration{250 * time.Millisecond, 1500 * time.Millisecond}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seeds []string
				for i := range c.pages + c.hanging {
					kind := "page"
					if i >= c.pages {
						kind = "slow"
					}
					seeds = append(seeds, fmt.Sprintf("https://a.example/%04d-%s", i, kind))
				}
				w, f := newWeb(), newFrontier(seeds...)
				w.dynamic = func(u page.URL) (answer, bool) {
					a := answer{status: 200, took: c.took, body: htmlPage(string(u))}
					if strings.HasSuffix(string(u), "slow") {
						a.took = 10 * time.Second
					}
					return a, true
				}
				var loading []time.Duration // begin and end, since the crawl began
				note := func() { loading = append(loading, time.Since(epoch)) }
				o := Options{
					Concurrency: c.concurrency,
					Politeness:  Politeness{PerHost: min(c.concurrency, 8), MinDelay: -1, DelayFactor: -1, DomainDelay: -1},
					Loading:     func() (end func()) { note(); return note },
				}
				if err := newCrawler(o, f, w, nil).Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				for i := range loading {
					loading[i] = loading[i].Truncate(fullSpeedWindow)
				}
				if !slices.Equal(loading, c.want) {
					t.Errorf("it began and ended to load after %v, want %v", loading, c.want)
				}
			})
		})
	}
}
