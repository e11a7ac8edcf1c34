package crawler

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/page"
)

// Hosts at one address take turns, however many pages each has and however fast it
// answers.
func TestTurnsAtOneAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts, pages = 5, 12
		w, f := newWeb(), newFrontier()
		for h := range hosts {
			name := fmt.Sprintf("h%d.example", h)
			w.addrs[name] = netip.MustParseAddr("192.0.2.9")
			chain(t, w, "https://"+name, pages, time.Duration(1+h*97)*time.Millisecond)
			f.offer(page.MustParseURL("https://"+name+"/0"), 0, 0, "seed")
		}
		c := newCrawler(Options{Politeness: Politeness{DelayFactor: -1}, Memory: Memory{Buffer: 1}}, f, w, nil)
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		last := make(map[string]int)
		calls := w.byStart()
		for i, x := range calls[hosts:] { // after robots.txt, all at once
			if before, ok := last[HostOf(x.url)]; ok && i-before > hosts {
				t.Errorf("%s had to wait for %d others", x.url, i-before-1)
			}
			last[HostOf(x.url)] = i
		}
		if want := hosts * (pages + 2); len(calls) != want {
			t.Errorf("%d requests, not %d", len(calls), want)
		}
	})
}

// If pages become due, are fetched and lead to new URLs while Run waits for Quiesce, Run
// calls Quiesce again.
func TestVisitsWhileQuiescing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/")
		parseWeb(t, w, "https://a.example/ 503\nhttps://a.example/ 200 links=/1\nhttps://a.example/1 200 page=one")
		var late []string
		var mu sync.Mutex
		f.wake = func(host string) {
			mu.Lock()
			defer mu.Unlock()
			late = append(late, host)
		}
		var c *Crawler
		o := Options{Seed: 1, MaxWait: -1, Sources: Sources{NoProbe: true}}
		o.Quiesce = func(context.Context) error {
			mu.Lock()
			known := late
			late = nil
			mu.Unlock()
			time.Sleep(90 * time.Second) // the retry is after 60
			for _, h := range known {
				c.Wake(h)
			}
			return nil
		}
		c = New(o, f, w, nil)
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, e := range f.list() {
			if e.index != "page" {
				t.Errorf("%s: %s", e.job.URL, e.note)
			}
		}
	})
}
