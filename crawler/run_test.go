package crawler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/page"
)

// chain is a site of n pages, each of which links to the next.
func chain(t testing.TB, w *web, host string, n int, took time.Duration) {
	for i := range n {
		parseWeb(t, w, fmt.Sprintf("%s/%d 200 took=%v links=/%d", host, i, took, i+1))
	}
	parseWeb(t, w, fmt.Sprintf("%s/%d 200 took=%v page=last", host, n, took))
}

func newCrawler(o Options, f *memFrontier, w *web, r Recorder) *Crawler {
	o.Seed, o.Sources.NoProbe = 1, true
	c := New(o, f, w, r)
	f.wake = c.Wake
	return c
}

func TestAbortGivesUpWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/0")
		chain(t, w, "https://a.example", 1, time.Minute)
		c := newCrawler(Options{}, f, w, nil)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel) // the first interrupt: wait for the page
		time.AfterFunc(9*time.Second, c.Abort)
		if err := c.Run(ctx); !errors.Is(err, ErrAborted) {
			t.Fatalf("Run returned %v", err)
		}
		if d := time.Since(epoch); d != 9*time.Second {
			t.Errorf("Run returned after %v", d)
		}
		if e := f.list()[0]; e.job.Visits != 0 || e.job.Strikes != 0 {
			t.Errorf("%+v", e.job)
		}
		if s := c.Status(1); s.Ended != "stopped" || s.InProgress != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestAbortBeforeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWeb()
		c := newCrawler(Options{}, newFrontier("https://a.example/"), w, nil)
		c.Abort()
		if err := c.Run(t.Context()); !errors.Is(err, ErrAborted) {
			t.Fatalf("Run returned %v", err)
		}
		if len(w.calls) > 0 {
			t.Errorf("requests were made: %v", w.calls)
		}
	})
}

// The disk is full for a while: no request starts, a failing store operation does not
// end the crawl, which continues on its own.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/0")
		chain(t, w, "https://a.example", 5, 100*time.Millisecond)
		full := func() bool { d := time.Since(epoch); return d > 3300*time.Millisecond && d < 20*time.Second }
		f.fault = func(op string) error {
			if full() && op == "visited" {
				return errors.New("no space left on device")
			}
			return nil
		}
		o := Options{Paused: func() string {
			if full() {
				return "the disk is full"
			}
			return ""
		}}
		c := newCrawler(o, f, w, nil)
		paused := make(chan string, 1)
		time.AfterFunc(10*time.Second, func() { paused <- c.Status(0).Paused })
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if why := <-paused; why != "the disk is full" {
			t.Errorf("the status says %q", why)
		}
		for _, x := range w.byStart() {
			if at := x.start.Sub(epoch); at > 4400*time.Millisecond && at < 20*time.Second {
				t.Errorf("%s was requested at %v, while the crawl paused", x.url, at)
			}
		}
		for _, e := range f.list() {
			if e.index != "page" || e.job.Visits != 1 {
				t.Errorf("%s: %s, %d visits", e.job.URL, e.index, e.job.Visits)
			}
		}
		f.check(t)
	})
}

// Each failed store operation ends the crawl in order: the error names the operation, what was
// learned about hosts is stored, and a second run finds everything that the first did not.
func TestStoreFailures(t *testing.T) {
	for _, op := range []string{"hosts", "due", "visited", "refuse", "known", "readmit", "add", "load", "save"} {
		t.Run(op, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, f := newWeb(), newFrontier("https://a.example/0", "https://a.example/private", "https://b.example/0")
				chain(t, w, "https://a.example", 3, 100*time.Millisecond)
				chain(t, w, "https://b.example", 3, 100*time.Millisecond)
				parseWeb(t, w, "https://a.example/robots.txt 200\n  User-agent: *\n  Disallow: /private\n  Sitemap: /s.xml\n"+
					"https://a.example/s.xml 200\n  <urlset><url><loc>https://a.example/9</loc></url></urlset>")
				broken := errors.New("the store is broken")
				f.fault = func(o string) error {
					if o == op {
						return broken
					}
					return nil
				}
				err := newCrawler(Options{}, f, w, nil).Run(t.Context())
				if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "crawler: ") {
					t.Fatalf("Run returned %v", err)
				}
				f.fault = nil
				for _, call := range w.byStart() {
					raw, _ := f.LoadHost(t.Context(), HostOf(call.url))
					if s, err := DecodeHost(raw); op != "save" && (err != nil || s.Answered.IsZero()) {
						t.Errorf("%s has answered, and its stored state does not say so (%v)", HostOf(call.url), err)
					}
				}
				if op == "refuse" { // the frontier did it, and said it did not
					return
				}
				if err := newCrawler(Options{}, f, w, nil).Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, e := range f.list() {
					if e.index == "" && !e.refused && op != "add" {
						t.Errorf("%s is %s: %s", e.job.URL, e.state, e.note)
					}
				}
			})
		})
	}
}

// Loaded pages lead to new URLs only after a while; Run calls Quiesce before it ends.
func TestQuiesce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/0")
		chain(t, w, "https://a.example", 3, 100*time.Millisecond)
		var late []string
		var c *Crawler
		calls := 0
		o := Options{Quiesce: func(context.Context) error {
			calls++
			time.Sleep(time.Second)
			for _, h := range late { // no request is under way, so there is no other writer
				c.Wake(h)
			}
			late = nil
			return nil
		}}
		c = newCrawler(o, f, w, nil)
		f.wake = func(host string) { late = append(late, host) }
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(f.list()); n != 4 || calls != 4 {
			t.Errorf("%d URLs found, quiesced %d times", n, calls)
		}
	})
}

// Run cancels Quiesce when it sends a request, and calls it again before it ends.
func TestQuiesceIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/0")
		chain(t, w, "https://a.example", 2, 100*time.Millisecond)
		var late []string
		var c *Crawler
		var lasted []time.Duration
		o := Options{Quiesce: func(ctx context.Context) error {
			began := time.Now()
			hosts := late
			late = nil
			for _, h := range hosts {
				time.AfterFunc(time.Second, func() { c.Wake(h) })
			}
			if len(hosts) > 0 {
				<-ctx.Done() // the pipeline would be busy with the pages of this request
			}
			lasted = append(lasted, time.Since(began))
			return context.Cause(ctx)
		}}
		c = newCrawler(o, f, w, nil)
		f.wake = func(host string) { late = append(late, host) }
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(f.list()); n != 3 || len(lasted) != 3 || lasted[0] != time.Second || lasted[1] != time.Second || lasted[2] != 0 {
			t.Errorf("%d URLs found, Quiesce took %v", n, lasted)
		}
	})
}

// An interrupted Run does not wait until the pipeline is empty.
func TestQuiesceIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/0")
		chain(t, w, "https://a.example", 1, 100*time.Millisecond)
		ctx, interrupt := context.WithCancel(t.Context())
		o := Options{Quiesce: func(ctx context.Context) error {
			time.AfterFunc(time.Second, interrupt)
			select {
			case <-ctx.Done():
			case <-time.After(time.Hour):
			}
			return context.Cause(ctx)
		}}
		c := newCrawler(o, f, w, nil)
		f.wake = c.Wake
		if err := c.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if ended, lasted := c.Status(0).Ended, time.Since(epoch); ended != EndedByContext || lasted > time.Minute {
			t.Errorf("it ended after %v because of %q", lasted, ended)
		}
	})
}

func TestQuiesceFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		o := Options{Quiesce: func(context.Context) error { return broken }}
		if err := newCrawler(o, newFrontier(), newWeb(), nil).Run(t.Context()); !errors.Is(err, broken) {
			t.Errorf("Run returned %v", err)
		}
	})
}

// If Quiesce fails because the disk is full, Run calls it again after the pause: what was loaded
// may still lead to new URLs.
func TestQuiesceFailsWhileTheCrawlPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/0")
		chain(t, w, "https://a.example", 1, 100*time.Millisecond)
		var full time.Time
		var late []string
		var c *Crawler
		o := Options{Paused: func() string {
			if time.Now().Before(full) {
				return "the disk is full"
			}
			return ""
		}}
		o.Quiesce = func(context.Context) error {
			if full.IsZero() {
				full = time.Now().Add(5 * time.Second)
				return errors.New("no space left on device")
			}
			for _, h := range late {
				c.Wake(h)
			}
			late = nil
			return nil
		}
		c = newCrawler(o, f, w, nil)
		f.wake = func(host string) { late = append(late, host) }
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if list := f.list(); len(list) != 2 || list[1].job.Visits != 1 {
			t.Errorf("%d URLs are known; the last one: %+v", len(list), list[len(list)-1].job)
		}
	})
}

// A crawl with Follow fetches URLs that are added when nothing is due.
func TestFollowWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier()
		parseWeb(t, w, "https://a.example/ 200 page=a")
		c := newCrawler(Options{Follow: true}, f, w, nil)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Hour, func() {
			if _, err := f.Add(ctx, Finding{URLs: []Found{{URL: "https://a.example/"}}, Source: "test"}); err != nil {
				t.Error(err)
			}
		})
		time.AfterFunc(2*time.Hour, cancel)
		if err := c.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if len(w.calls) != 2 || w.calls[0].start.Sub(epoch) != time.Hour {
			t.Errorf("%d requests", len(w.calls))
		}
	})
}

// recorded records its exchanges.
type recorded struct {
	mu    sync.Mutex
	lines []string
}

func (r *recorded) Record(_ context.Context, u page.URL, res *fetch.Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf("%s %d %s", u, res.Fetch.Status, res.Fetch.Header.Get(withdrawnHeader)))
	return nil
}

// Everything recorded is loaded: not the first 404 of a page, not sitemaps; but the
// withdrawal of a page that may no longer be fetched.
func TestRecordsAreWhatIsLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/0", "https://a.example/1")
		parseWeb(t, w, `
https://a.example/robots.txt 200
  Sitemap: /s.xml
https://a.example/robots.txt 200
  User-agent: *
  Disallow: /1
https://a.example/s.xml 200
  <urlset></urlset>
https://a.example/0 200 page=zero
https://a.example/0 404
https://a.example/1 200 page=one`)
		r := &recorded{}
		var loaded []string
		o := Options{Follow: true, Loaded: func(_ context.Context, f page.Fetch) error {
			loaded = append(loaded, fmt.Sprintf("%s %d ", f.URL, f.Status))
			return nil
		}}
		c := newCrawler(o, f, w, r)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(25*time.Hour, cancel)
		if err := c.Run(ctx); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"https://a.example/robots.txt 200 ",
			"https://a.example/0 200 ",
			"https://a.example/1 200 ",
			"https://a.example/robots.txt 200 ",
			"https://a.example/1 410 robots.disallow",
			"https://a.example/0 404 ", // the second
		}
		if !slices.Equal(r.lines, want) {
			t.Errorf("recorded:\n%s", strings.Join(r.lines, "\n"))
		}
		if len(loaded) != 2 || loaded[0] != want[0] {
			t.Errorf("loaded besides: %q", loaded)
		}
	})
}

// Many hosts, few places: memory never has more hosts than allowed, and all are done.
func TestPlacesInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier()
		const n = 300
		for i := range n {
			u := fmt.Sprintf("https://h%d.example/", i)
			parseWeb(t, w, u+" 200 page=x")
			f.offer(page.MustParseURL(u), 0, 0, "seed")
		}
		o := Options{Memory: Memory{Hosts: 10, Waiting: 20}}
		c := newCrawler(o, f, w, nil)
		most := 0
		w.dynamic = func(page.URL) (answer, bool) { // robots.txt
			s := c.Status(0).Hosts
			most = max(most, s.Active+s.Politeness+s.Robots+s.Backoff+s.Store+s.Idle)
			return answer{}, false
		}
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if most != 10 {
			t.Errorf("%d hosts were in memory", most)
		}
		for _, e := range f.list() {
			if e.index != "page" {
				t.Errorf("%s: %s", e.job.URL, e.note)
			}
		}
	})
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConditionalOnlyWithoutStrikes(t *testing.T) {
	j := Job{URL: "https://a.example/", ETag: `"x"`, LastModified: "yesterday"}
	if got := conditional(j); got != (fetch.Request{URL: j.URL, ETag: j.ETag, LastModified: j.LastModified}) {
		t.Errorf("%+v", got)
	}
	j.Strikes = 1
	if got := conditional(j); got != (fetch.Request{URL: j.URL}) {
		t.Errorf("after a strike: %+v", got)
	}
}
