package crawler

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/internal/humanize"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// visits counts the visits, even while requests are in progress.
func (w *web) visits() (n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.calls {
		if x.url.Path() != "/robots.txt" && !x.aborted {
			n++
		}
	}
	return n
}

// TestMaxPages: a run makes exactly as many visits as it may, whatever the number of
// hosts and concurrent requests, and the next run makes as many again.
func TestMaxPages(t *testing.T) {
	for _, hosts := range []int{1, 7, 60} {
		for _, perHost := range []int{1, 8} {
			for _, limit := range []int64{1, 3, 21, 32} {
				t.Run(fmt.Sprintf("%d hosts, %d at a time, limit %d", hosts, perHost, limit), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { maxPages(t, hosts, perHost, limit) })
				})
			}
		}
	}
}

func maxPages(t *testing.T, hosts, perHost int, limit int64) {
	w, f := newWeb(), newFrontier()
	const pages = 150
	for i := range pages {
		u := fmt.Sprintf("https://h%d.example/%d", i%hosts, i)
		switch i % 5 {
		case 0:
			parseWeb(t, w, u+" 301 location=/elsewhere")
		case 1:
			parseWeb(t, w, u+" 404")
		case 2:
			parseWeb(t, w, u+" error=timeout")
		default:
			parseWeb(t, w, fmt.Sprintf("%s 200 took=%dms page=x", u, 1+i*7%400))
		}
		f.offer(page.MustParseURL(u), 0, 0, "seed")
	}
	o := Options{Limits: Limits{Pages: limit}, Politeness: Politeness{PerHost: perHost, MinDelay: -1, DelayFactor: -1}}
	for run := int64(1); run <= 2; run++ {
		c := newCrawler(o, f, w, nil)
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := c.Status(0); s.Pages != limit || s.Ended != fmt.Sprintf("the limit of %s is reached", humanize.Count(limit, "page")) {
			t.Errorf("run %d made %d visits and ended because %s", run, s.Pages, s.Ended)
		}
		if n := w.visits(); n != run*limit {
			t.Errorf("after run %d the web has seen %d visits, want %d", run, n, run*limit)
		}
	}
}

// TestMaxPagesAfterAPause: a visit that could not be stored, and is made again, counts
// once.
func TestMaxPagesAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier()
		for i := range 20 {
			u := fmt.Sprintf("https://h%d.example/", i)
			parseWeb(t, w, u+" 200 page=x")
			f.offer(page.MustParseURL(u), 0, 0, "seed")
		}
		full := func() bool { return time.Since(epoch) < 5*time.Second }
		f.fault = func(op string) error {
			if full() && op == "visited" {
				return errors.New("no space left on device")
			}
			return nil
		}
		o := Options{Limits: Limits{Pages: 6}, Paused: func() string {
			if full() && w.visits() > 0 {
				return "the disk is full"
			}
			return ""
		}}
		c := newCrawler(o, f, w, nil)
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := c.Status(0); s.Pages != 6 || s.Interrupted == 0 {
			t.Errorf("%d visits, %d of them interrupted before", s.Pages, s.Interrupted)
		}
		loaded := 0
		for _, e := range f.list() {
			loaded += e.job.Visits
		}
		if loaded != 6 {
			t.Errorf("%d visits were stored", loaded)
		}
	})
}

// TestMaxBytes: the bytes received stay near the limit, even with many requests at a
// time and bodies of all sizes: only a few bodies exceed it.
func TestMaxBytes(t *testing.T) {
	for seed := range testenv.Seeds(t, testenv.Fresh(t), 20) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { maxBytes(t, seed) })
		})
	}
}

func maxBytes(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	w, f := newWeb(), newFrontier()
	const largest = 20_000
	for i := range 400 {
		u := fmt.Sprintf("https://h%d.example/%d", i%50, i)
		body := strings.Repeat("x", 1+rng.IntN(largest))
		w.put(u, answer{status: 200, took: randomTime(rng), body: body})
		f.offer(page.MustParseURL(u), 0, 0, "seed")
	}
	limit := int64(200_000 + rng.IntN(1_000_000))
	c := newCrawler(Options{Limits: Limits{Bytes: limit}}, f, w, nil)
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := c.Status(0)
	if s.Ended != fmt.Sprintf("the limit of %d bytes is reached", limit) {
		t.Errorf("it ended because %s", s.Ended)
	}
	// Without holding requests back, 32 of them go beyond: 320,000 bytes in the mean.
	if over := s.Bytes - limit; over < 0 || over > 8*largest {
		t.Errorf("%d bytes were received with a limit of %d", s.Bytes, limit)
	}
}
