package frontier_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/page"
)

// TestCountVisits: visits of a host that are loaded at the same time are all counted.
func TestCountVisits(t *testing.T) {
	const visits, limit = 20, 30
	r := newRig(t)
	var seeds []page.URL
	for i := range visits {
		seeds = append(seeds, page.URL(fmt.Sprintf("https://a.example/%d", i)))
	}
	config := perHost
	config.MaxPagesPerHost = limit
	r.begin(config, seeds...)
	jobs := r.due(host)
	if len(jobs) != visits {
		t.Fatalf("%d of %d seeds are due", len(jobs), visits)
	}
	var work sync.WaitGroup
	for _, j := range jobs {
		work.Go(func() {
			f := page.Fetch{URL: j.URL, Time: r.clock, Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte("<p>" + j.URL)}
			err := r.front.Visited(t.Context(), crawler.Visit{
				Job: j, Result: fetch.Result{Fetch: f}, Fetch: f,
				Next: func(bool) (time.Time, time.Duration) { return time.Time{}, 0 },
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	room, err := r.front.Room(t.Context(), host)
	if err != nil || room != limit-visits {
		t.Errorf("room for %d more pages, %v; want %d", room, err, limit-visits)
	}
}

// TestHigherLimit: where several processes crawl, a higher limit wakes the crawlers of the hosts that
// have had their pages, whether or not other settings change.
func TestHigherLimit(t *testing.T) {
	r := newRig(t)
	r.crawl.Liveness = sharedtest.New().Join()
	config := perHost
	config.MaxPagesPerHost = 1
	r.begin(config, host+"/")
	r.visit(r.due(host)[0], links("/1", "/2", "/3"))
	for i, seed := range []page.URL{host + "/", "https://b.example/"} { // only the limit changes; seeds change as well
		if got := urls(r.due(host)); got != "" {
			t.Fatalf("with a limit of %d, %s are due", i+1, got)
		}
		clear(r.woken)
		config.MaxPagesPerHost = i + 2
		r.begin(config, seed)
		if r.woken[host] != 1 {
			t.Errorf("with a limit of %d, woken are %v", i+2, r.woken)
		}
		r.visit(r.due(host)[0], links())
	}
}
