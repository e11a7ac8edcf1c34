package crawler

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/page"
)

// checkPoliteness checks the requests that the web saw against the rules that do not
// depend on what the crawler knows: never more than PerHost requests to a host, and
// PerIP to a known address, at a time; and MinDelay between the end of one and the
// start of the next, where one at a time is allowed.
func checkPoliteness(t testing.TB, w *web, o Options) {
	t.Helper()
	p := &o.Politeness
	groups := make(map[string][]*call)
	known := make(map[string]time.Time) // when the address of a host became known
	for _, x := range w.byStart() {
		groups["host "+HostOf(x.url)] = append(groups["host "+HostOf(x.url)], x)
		if at, ok := known[HostOf(x.url)]; (!ok || at.After(x.end)) && x.class == 0 && !x.aborted {
			known[HostOf(x.url)] = x.end
		}
		if p.PerDomain > 0 {
			domain := "domain " + page.RegistrableDomain(x.url.Host())
			groups[domain] = append(groups[domain], x)
		}
	}
	for _, x := range w.byStart() {
		a, ok := w.addrs[x.url.Host()]
		if at, is := known[HostOf(x.url)]; ok && (w.locates || is && !at.After(x.start)) && p.PerIP > 0 {
			groups["address "+network(a)] = append(groups["address "+network(a)], x)
		}
	}
	if p.PerIP == 1 {
		checkAddresses(t, w, groups, p.MinDelay)
	}
	for key, calls := range groups {
		limit, delay := p.PerHost, p.MinDelay
		switch key[0] {
		case 'a':
			limit = p.PerIP
		case 'd':
			limit, delay = p.PerDomain, 0
		}
		for _, problem := range tooMany(calls, limit, delay) {
			t.Errorf("%s: %s", key, problem)
		}
		if key[0] == 'd' {
			for i := 1; i < len(calls); i++ {
				if gap := calls[i].start.Sub(calls[i-1].start); gap < p.DomainDelay {
					t.Errorf("%s: %s starts %v after %s, not %v", key, calls[i].url, gap, calls[i-1].url, p.DomainDelay)
				}
			}
		}
	}
}

func tooMany(calls []*call, limit int, delay time.Duration) (problems []string) {
	for i, x := range calls {
		at := []page.URL{x.url}
		for _, y := range calls[:i] {
			if y.end.IsZero() || y.end.After(x.start) {
				at = append(at, y.url)
			}
			if gap := x.start.Sub(y.end); limit == 1 && gap < delay {
				problems = append(problems, fmt.Sprintf("%s starts %v after the end of %s, not %v", x.url, gap, y.url, delay))
			}
		}
		if len(at) > limit {
			problems = append(problems, fmt.Sprintf("more than %d at a time: %v", limit, at))
		}
	}
	return problems
}

// checkAddresses compares requests to known addresses with all that ended there before,
// including those through which the address became known.
func checkAddresses(t testing.TB, w *web, groups map[string][]*call, delay time.Duration) {
	t.Helper()
	for _, y := range w.byStart() {
		a, ok := w.addrs[y.url.Host()]
		if !ok || y.aborted || y.class == fetch.Connect {
			continue
		}
		for _, x := range groups["address "+network(a)] {
			if gap := x.start.Sub(y.end); gap >= 0 && gap < delay {
				t.Errorf("%s starts %v after the end of %s at the same address", x.url, gap, y.url)
			}
		}
	}
}

// A run is killed while it asks a host. The next one first comes to a host at the same address,
// which was never asked.
func TestNewHostAfterKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://b.example/0")
		w.locates = true
		for _, host := range []string{"https://a.example", "https://b.example"} {
			chain(t, w, host, 1, 0)
			w.addrs[page.URL(host+"/").Host()] = netip.MustParseAddr("192.0.2.1")
		}
		first := newCrawler(Options{}, f, w, nil)
		w.watch = first.Abort
		if err := first.Run(t.Context()); !errors.Is(err, ErrAborted) {
			t.Fatal(err)
		}
		synctest.Wait()
		w.watch = nil
		if _, err := f.Add(t.Context(), Finding{URLs: []Found{{URL: "https://a.example/0"}}, Depth: 1}); err != nil {
			t.Fatal(err)
		}
		second := newCrawler(Options{Continues: true, Memory: Memory{Hosts: 1}}, f, w, nil)
		if err := second.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		calls := w.byStart()
		if gap := calls[1].start.Sub(calls[0].end); HostOf(calls[1].url) != "https://a.example" || gap < time.Second {
			t.Errorf("%s was requested %v after %s", calls[1].url, gap, calls[0].url)
		}
	})
}

// With several requests at a time, a host fails and then asks to be left alone for a moment. It
// has not asked for all of the time for which it is left alone: the next run need not wait for that.
func TestAskedForLessThanTheBackoff(t *testing.T) {
	var o Politeness
	o.setDefaults()
	rng := rand.New(rand.NewPCG(1, 1))
	failed := exchange{status: 500, start: epoch, end: epoch, againstHost: true}
	p := pace{failures: 20}
	p.observe(&o, failed, rng)
	until := p.until
	p.observe(&o, exchange{status: 301, start: epoch, end: epoch, retryAfter: time.Second}, rng)
	if want := epoch.Add(time.Second); !p.asked.Equal(want) || !p.until.Equal(until) || until.Before(epoch.Add(time.Minute)) {
		t.Errorf("asked until %v, left alone until %v; want %v, %v", p.asked, p.until, want, until)
	}
	p.observe(&o, exchange{status: 301, start: epoch, end: epoch, retryAfter: time.Millisecond}, rng)
	if want := epoch.Add(time.Second); !p.asked.Equal(want) {
		t.Errorf("a shorter time takes the place of a longer one: %v", p.asked)
	}
}
