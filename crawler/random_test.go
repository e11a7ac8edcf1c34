package crawler

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// TestRandomWebs crawls webs of random hosts with random settings, killing the
// crawler now and then, and checks that
//
//	every page that can be reached and may be fetched is visited exactly once, and
//	nothing else; no request is made sooner than allowed, across runs too; and no page
//	is requested again whose request had been completed with success, unless it is a
//	redirect whose target leads back to it, as at a cookie wall (wall.next).
func TestRandomWebs(t *testing.T) {
	n := uint64(200)
	if testing.Short() {
		n = 40
	}
	for s := range testenv.Seeds(t, testenv.Fresh(t), n) {
		ok := t.Run(fmt.Sprintf("seed %d", s), func(t *testing.T) { randomWeb(t, s) })
		if !ok {
			return
		}
	}
}

// Seeds that once failed.
func TestRandomWebsAgain(t *testing.T) {
	for _, s := range []uint64{1795185301496894309, 15758151239184721701, 5960499800301158175} {
		t.Run(fmt.Sprintf("seed %d", s), func(t *testing.T) { randomWeb(t, s) })
	}
}

func randomWeb(t *testing.T, seed uint64) {
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(seed, 7))
		w, seeds, want := buildRandomWeb(rng)
		frontier := newFrontier(seeds...)
		// An address becomes known when its first exchange ends. A request that starts at that very
		// moment may start before the crawler learns of it, which looks like a lack of politeness.
		w.stagger, frontier.stagger = true, true
		o := randomOptions(rng)
		if rng.IntN(2) == 0 {
			frontier.rng = rng
		}
		kills := rng.IntN(5)
		at := func() time.Duration { return time.Duration(rng.IntN(60000)) * time.Millisecond }
		for ; ; kills-- {
			c := New(o, frontier, w, nil)
			frontier.wake = c.Wake
			if kills > 0 {
				time.AfterFunc(at(), c.Abort)
			}
			err := c.Run(t.Context())
			if t.Failed() || testing.Verbose() {
				t.Logf("%v: %+v", time.Since(epoch), c.Status(10))
			}
			if err == nil {
				break
			}
			if !errors.Is(err, ErrAborted) {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		frontier.check(t)
		checkPoliteness(t, w, o.WithDefaults())
		frontier.checkOutcomes(t, want)
		completed := make(map[page.URL]bool)
		for _, x := range w.byStart() {
			if x.url.Path() == "/robots.txt" {
				continue
			}
			if completed[x.url] && !w.leadsBack(x.url) {
				t.Errorf("%s was fetched again", x.url)
			}
			completed[x.url] = x.status < 400 && x.class == fetch.OK && !x.aborted
		}
	})
}

func randomOptions(rng *rand.Rand) Options {
	o := Options{Seed: 1, Concurrency: 1 + rng.IntN(8), MaxWait: 4 * time.Hour, MaxWaitUnreached: 4 * time.Hour}
	o.Sources.NoProbe = true
	o.Politeness.PerIP = []int{-1, 1, 2}[rng.IntN(3)]
	o.Politeness.PerDomain = []int{-1, 1, 3}[rng.IntN(3)]
	o.Politeness.PerHost = []int{1, 1, 1, 3}[rng.IntN(4)]
	o.Politeness.DelayFactor = []float64{-1, 5}[rng.IntN(2)]
	o.Memory.Hosts = 1 + rng.IntN(6)
	o.Memory.Turn = 1 + rng.IntN(6)
	o.Memory.Buffer = 1 + rng.IntN(5)
	o.Memory.Waiting = 1 + rng.IntN(6)
	return o
}

// buildRandomWeb makes a web, and returns the expected state of its URLs: as Outcome
// writes it, "refused", or "" for URLs that the crawl must not find.
func buildRandomWeb(rng *rand.Rand) (w *web, seeds []string, want map[page.URL]string) {
	w, want = newWeb(), make(map[page.URL]string)
	hosts := 1 + rng.IntN(8)
	name := func(h int) string { return fmt.Sprintf("https://h%d.d%d.example", h, h%3) }
	links := make(map[page.URL][]page.URL)
	pages := make([]int, hosts)
	for h := range hosts {
		pages[h] = 1 + rng.IntN(6)
		w.addrs[page.URL(name(h)+"/").Host()] = netip.AddrFrom4([4]byte{192, 0, 2, byte(rng.IntN(3))})
		randomRobots(rng, w, name(h))
	}
	for h := range hosts {
		for p := range pages[h] {
			u := page.MustParseURL(fmt.Sprintf("%s/%d", name(h), p))
			for range rng.IntN(4) {
				to := rng.IntN(hosts)
				links[u] = append(links[u], page.MustParseURL(fmt.Sprintf("%s/%d", name(to), rng.IntN(pages[to]+1))))
			}
			want[u] = randomPage(rng, w, u, links)
		}
	}
	seeds = []string{name(0) + "/0"}
	reach := map[page.URL]bool{}
	var visit func(u page.URL)
	visit = func(u page.URL) {
		if reach[u] {
			return
		}
		reach[u] = true
		if disallowed(u) {
			want[u] = "refused"
			return
		}
		if want[u] == "" {
			want[u] = "gone" // linked to, but not there
		}
		for _, l := range links[u] {
			visit(l)
		}
	}
	visit(page.MustParseURL(seeds[0]))
	for u := range want {
		if !reach[u] {
			want[u] = ""
		}
	}
	return w, seeds, want
}

// disallowed: all hosts whose robots.txt has rules forbid what ends in 3.
func disallowed(u page.URL) bool { return strings.HasSuffix(u.Path(), "3") }

func randomRobots(rng *rand.Rand, w *web, host string) {
	rules := answer{status: 200, took: randomTime(rng), body: "User-agent: *\nDisallow: /*3$\n"}
	if rng.IntN(3) == 0 {
		rules.body += "Crawl-delay: 2\n"
	}
	switch rng.IntN(4) {
	case 0:
		w.put(host+"/robots.txt", answer{status: 503, took: randomTime(rng)})
	case 1:
		w.put(host+"/robots.txt", answer{took: randomTime(rng), class: fetch.Connect})
	case 2:
		w.put(host+"/robots.txt", answer{status: 302, took: randomTime(rng), header: http.Header{"Location": {"/r"}}})
		w.put(host+"/r", rules)
		return
	}
	w.put(host+"/robots.txt", rules)
}

func randomPage(rng *rand.Rand, w *web, u page.URL, links map[page.URL][]page.URL) (outcome string) {
	for range rng.IntN(3) {
		switch rng.IntN(4) {
		case 0:
			w.put(string(u), answer{status: 503, took: randomTime(rng), retryAfter: time.Duration(rng.IntN(100)) * time.Second})
		case 1:
			w.put(string(u), answer{status: 429, took: randomTime(rng)})
		case 2:
			w.put(string(u), answer{class: fetch.Timeout, took: randomTime(rng)})
		}
	}
	if len(links[u]) > 0 && rng.IntN(5) == 0 {
		links[u] = links[u][:1]
		w.put(string(u), answer{status: 301, took: randomTime(rng), header: http.Header{"Location": {string(links[u][0])}}})
		return "redirect"
	}
	var refs []string
	for _, l := range links[u] {
		refs = append(refs, string(l))
	}
	w.put(string(u), answer{status: 200, took: randomTime(rng), header: http.Header{"Content-Type": {"text/html"}}, body: htmlPage(string(u), refs...)})
	return "page"
}

// leadsBack reports whether u redirects to another URL, which redirects to u.
func (w *web) leadsBack(u page.URL) bool {
	to := w.redirect(u)
	return to != u && to != "" && w.redirect(to) == u
}

// redirect returns where u redirects to in the end, or "".
func (w *web) redirect(u page.URL) page.URL {
	list := w.answers[u]
	if len(list) == 0 {
		return ""
	}
	return page.URL(list[len(list)-1].header.Get("Location"))
}

func randomTime(rng *rand.Rand) time.Duration {
	return time.Duration(1+rng.IntN(1500)) * time.Millisecond
}
