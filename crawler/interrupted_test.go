package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/page"
)

// urlset is a sitemap of n pages of a host.
func urlset(host string, n int) string {
	var b strings.Builder
	b.WriteString("<urlset>")
	for i := range n {
		fmt.Fprintf(&b, "<url><loc>%s/%d</loc></url>", host, i)
	}
	return b.String() + "</urlset>"
}

// The disk is full while a sitemap is read: the crawl pauses, and then reads the whole
// sitemap.
func TestSitemapWhileThePauseBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/")
		parseWeb(t, w, "https://a.example/ 200 page=home\nhttps://a.example/robots.txt 200\n  Sitemap: /s.xml")
		w.put("https://a.example/s.xml", answer{status: 200, body: urlset("https://a.example", 3*addChunk)})
		w.dynamic = func(page.URL) (answer, bool) { return answer{status: 200, body: htmlPage("listed")}, true }
		full, adds := time.Time{}, 0
		f.fault = func(op string) error {
			if op != "add" {
				return nil
			}
			if adds++; adds == 2 || adds == 4 || adds == 6 || adds == 8 {
				full = time.Now().Add(20 * time.Second)
				return errors.New("no space left on device")
			}
			return nil
		}
		c := newCrawler(Options{Paused: func() string {
			if time.Now().Before(full) {
				return "the disk is full"
			}
			return ""
		}}, f, w, nil)
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(f.list()); n != 1+3*addChunk {
			t.Errorf("%d URLs are known, want %d", n, 1+3*addChunk)
		}
		if s := c.Status(0); s.Interrupted != 4 {
			t.Errorf("the crawl paused %d times", s.Interrupted)
		}
	})
}

// An interrupt ends the requests for sitemaps that are under way, and what is added from
// one. The next run reads them again.
func TestInterruptOfSitemaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/", "https://b.example/")
		for _, host := range []string{"https://a.example", "https://b.example"} {
			parseWeb(t, w, host+"/ 200 page=home\n"+host+"/robots.txt 200\n  Sitemap: /s.xml")
		}
		w.put("https://a.example/s.xml", answer{status: 200, body: urlset("https://a.example", 30*addChunk)})
		w.put("https://b.example/s.xml", answer{status: 200, body: urlset("https://b.example", 1), took: 90 * time.Second})
		f.fault = func(op string) error {
			if op == "add" {
				time.Sleep(time.Second)
			}
			return nil
		}
		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Second, interrupt)
		c := newCrawler(Options{}, f, w, nil)
		if err := c.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(epoch); d > 12*time.Second {
			t.Errorf("Run returned after %v, 10 s of which were before the interrupt", d)
		}
		before := len(f.list())
		if before <= 2 || before >= 2+10*addChunk {
			t.Errorf("%d URLs are known", before)
		}
		if s := c.Status(0); s.Ended != EndedByContext || len(s.Failures) > 0 {
			t.Errorf("%+v", s)
		}

		again := newCrawler(Options{Limits: Limits{Time: 3 * time.Minute}}, f, w, nil)
		if err := again.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(f.list()); n != 3+30*addChunk {
			t.Errorf("%d URLs are known after the next run, want %d", n, 3+30*addChunk)
		}
	})
}

// What a page names in its head is found even if adding it failed: the page is then not
// loaded, and fetched again.
func TestNamedPagesAfterAFailedAdd(t *testing.T) {
	const home = `<html><head><link rel=next href=/2><link rel=icon href=/i.png></head><body>home</body></html>`
	for _, failing := range []int{1, 2, 3} { // the next page, /favicon.ico, the icon that is named
		synctest.Test(t, func(t *testing.T) {
			w, f := newWeb(), newFrontier("https://a.example/")
			parseWeb(t, w, "https://a.example/robots.txt 404\nhttps://a.example/2 200 page=two")
			w.put("https://a.example/", answer{status: 200, body: home, header: http.Header{"Content-Type": {"text/html"}, "Etag": {"1"}}})
			adds := 0
			f.fault = func(op string) error {
				if op == "add" {
					if adds++; adds == failing {
						return errors.New("the store failed")
					}
				}
				return nil
			}
			o := Options{Sources: Sources{Icons: true}}
			if err := newCrawler(o, f, w, nil).Run(t.Context()); err == nil {
				t.Fatal("a failed operation did not end the crawl")
			}
			if err := newCrawler(o, f, w, nil).Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, u := range []page.URL{"/2", "/favicon.ico", "/i.png"} {
				if f.entries["https://a.example"+u] == nil {
					t.Errorf("after failure %d: %s is not known", failing, u)
				}
			}
		})
	}
}

// Feeds that a page names are stored before the page is loaded: the run may be killed right after
// that, and the page may not change again.
func TestFeedsAreStoredFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/")
		parseWeb(t, w, "https://a.example/robots.txt 404\nhttps://a.example/feed 200 took=1m")
		body := `<head><link rel=alternate type=application/rss+xml href=/feed></head><a href=/2>two</a>`
		w.put("https://a.example/", answer{status: 200, body: body, header: http.Header{"Content-Type": {"text/html"}}})
		c := newCrawler(Options{}, f, w, nil)
		f.wake = func(string) { c.Abort() } // once the link is found
		if err := c.Run(t.Context()); !errors.Is(err, ErrAborted) {
			t.Fatal(err)
		}
		if n := f.entries["https://a.example/"].job.Visits; n != 1 {
			t.Fatalf("the page was loaded %d times", n)
		}
		if s, err := DecodeHost(f.states["https://a.example"]); err != nil || len(s.Feeds) != 1 {
			t.Errorf("the stored feeds are %q (%v)", s.Feeds, err)
		}
	})
}

// A page whose feeds cannot be stored is not loaded. Its feeds are read in this run all the same,
// and stored before the page is loaded, by each of two visits at a time.
func TestFeedsThatCannotBeStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/1", "https://a.example/2", "https://a.example/3")
		parseWeb(t, w, "https://a.example/robots.txt 404\nhttps://a.example/feed 200")
		body := `<head><link rel=alternate type=application/rss+xml href=/feed></head>`
		for _, u := range []string{"/1", "/2", "/3"} {
			w.put("https://a.example"+u, answer{status: 200, body: body, header: http.Header{"Content-Type": {"text/html"}}})
		}
		var failed atomic.Bool
		f.fault = func(op string) error {
			switch {
			case op == "save" && len(w.byStart()) > 1 && time.Since(epoch) < 20*time.Second:
				failed.Store(true)
				return errors.New("no space left on device")
			case op == "visited":
				raw, _ := f.LoadHost(t.Context(), "https://a.example")
				if s, err := DecodeHost(raw); err != nil || len(s.Feeds) != 1 {
					t.Errorf("a page was loaded while the stored feeds were %q (%v)", s.Feeds, err)
				}
			}
			return nil
		}
		c := newCrawler(Options{Politeness: Politeness{PerHost: 2}, Limits: Limits{Time: time.Hour}, Paused: func() string {
			if failed.Load() && time.Since(epoch) < 20*time.Second {
				return "the disk is full"
			}
			return ""
		}}, f, w, nil)
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		read := 0
		for _, call := range w.byStart() {
			if call.url == "https://a.example/feed" {
				read++
			}
		}
		if s := c.Status(0); s.Interrupted == 0 || read != 1 {
			t.Errorf("the crawl paused %d times, and the feed was read %d times", s.Interrupted, read)
		}
		f.check(t)
	})
}

// A seed without a scheme is tried with http even if adding it failed, in the same run and
// in the next one.
func TestBareSeedAfterAFailedAdd(t *testing.T) {
	for _, pauses := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w, f := newWeb(), newFrontier("https://a.example/")
			parseWeb(t, w, "https://a.example/robots.txt error=connect\nhttp://a.example/ 200 page=home")
			full := time.Time{}
			f.fault = func(op string) error {
				if op == "add" && full.IsZero() {
					full = time.Now().Add(20 * time.Second)
					return errors.New("no space left on device")
				}
				return nil
			}
			o := Options{Bare: []page.URL{"https://a.example/"}, Paused: func() string {
				if pauses && time.Now().Before(full) {
					return "the disk is full"
				}
				return ""
			}}
			if err := newCrawler(o, f, w, nil).Run(t.Context()); (err == nil) != pauses {
				t.Fatal(err)
			}
			if !pauses {
				if err := newCrawler(o, f, w, nil).Run(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if e := f.entries["http://a.example/"]; e == nil || e.job.Visits != 1 {
				t.Errorf("pauses %t: http was not tried", pauses)
			}
		})
	}
}

// The state of a host that could not be stored, because the disk was full, is stored once
// there is room: it says until when the host wants to be left alone.
func TestStateAfterAFailedSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/")
		parseWeb(t, w, "https://a.example/robots.txt 404\nhttps://a.example/ 429 retry-after=3h")
		full := time.Time{}
		f.fault = func(op string) error {
			if op == "save" && full.IsZero() && time.Since(epoch) > time.Second { // the first save marks the host
				full = time.Now().Add(20 * time.Second)
				return errors.New("no space left on device")
			}
			return nil
		}
		c := newCrawler(Options{Follow: true, Paused: func() string {
			if time.Now().Before(full) {
				return "the disk is full"
			}
			return ""
		}}, f, w, nil)
		time.AfterFunc(time.Minute, c.Abort) // as a kill: Run does not store what it has in memory
		if err := c.Run(t.Context()); !errors.Is(err, ErrAborted) {
			t.Fatal(err)
		}
		s, err := DecodeHost(f.states["https://a.example"])
		if err != nil || s.AskedUntil.Before(epoch.Add(3*time.Hour)) {
			t.Errorf("the host wants to be left alone for three hours, and the stored time is %v (%v)", s.AskedUntil, err)
		}
	})
}

// All requests of a visit count, even if it could not be loaded.
func TestRequestsOfAFailedVisit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/b")
		parseWeb(t, w, "https://a.example/robots.txt 404\nhttps://a.example/a 302 location=/b\nhttps://a.example/b 302 location=/a")
		job := &f.entries["https://a.example/b"].job
		job.Source, job.Hops = "https://a.example/a", 1 // so that the visit follows the redirect back
		f.fault = func(op string) error {
			if op == "visited" {
				return errors.New("the store failed")
			}
			return nil
		}
		c := newCrawler(Options{}, f, w, nil)
		if err := c.Run(t.Context()); err == nil {
			t.Fatal("a failed operation did not end the crawl")
		}
		if n := int64(len(w.byStart())); n < 3 || c.Status(0).Requests != n {
			t.Errorf("%d requests, %d were counted", n, c.Status(0).Requests)
		}
	})
}

// A run that ends between a host's probes has learned nothing from them. The next run makes them
// again, and does not index what says "not found".
func TestInterruptOfProbes(t *testing.T) {
	const sorry = "<title>Oops</title>We are sorry, there is nothing at all to be found here, please go to our home page."
	for _, after := range []time.Duration{2 * time.Second, 3 * time.Second} { // before the first, before the second
		synctest.Test(t, func(t *testing.T) {
			w, f := newWeb(), newFrontier("https://a.example/")
			parseWeb(t, w, "https://a.example/ 200 links=/1,/missing\nhttps://a.example/1 200 page=one\nhttps://a.example/robots.txt 404")
			w.dynamic = func(page.URL) (answer, bool) {
				return answer{status: 200, body: sorry, header: http.Header{"Content-Type": {"text/html"}}}, true
			}
			ctx, interrupt := context.WithCancel(t.Context())
			time.AfterFunc(after, interrupt)
			for _, ctx := range []context.Context{ctx, t.Context()} {
				c := New(Options{Seed: 1}, f, w, nil)
				f.wake = c.Wake
				if err := c.Run(ctx); err != nil {
					t.Fatal(err)
				}
			}
			if e := f.entries["https://a.example/missing"]; e.job.Visits != 1 || e.index != "" {
				t.Errorf("interrupted after %v: %+v", after, e)
			}
		})
	}
}

// A run ends between a robots.txt that redirects and the target. By the next run, robots.txt is a
// file of its own: that one is asked for and obeyed, not the old target.
func TestInterruptOfRobotsRedirect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/")
		parseWeb(t, w, "https://a.example/ 200 page=home\nhttps://a.example/robots.txt 301 location=/old\n"+
			"https://a.example/robots.txt 200\n  User-agent: *\n  Disallow: /")
		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(500*time.Millisecond, interrupt)
		for _, ctx := range []context.Context{ctx, t.Context()} {
			if err := newCrawler(Options{}, f, w, nil).Run(ctx); err != nil {
				t.Fatal(err)
			}
		}
		for _, x := range w.byStart() {
			if x.url != "https://a.example/robots.txt" {
				t.Errorf("%s was requested", x.url)
			}
		}
	})
}
