package crawler

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/crawler/robots"
	"github.com/webindexer/indexer/crawler/sitemap"
	"github.com/webindexer/indexer/page"
)

// Sitemaps of more than smallFile are read two at a time. Meanwhile their hosts are asked
// for pages, and small sitemaps are read.
func TestLargeSitemaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier()
		const hosts = 6
		for i := range hosts {
			host := fmt.Sprintf("https://h%d.example", i)
			f.offer(page.MustParseURL(host+"/0"), 0, 0, "seed")
			chain(t, w, host, 20, 100*time.Millisecond)
			parseWeb(t, w, host+"/listed 200 page=listed\n"+host+"/robots.txt 200\n  Sitemap: /large.xml\n  Sitemap: /small.xml")
			body := "<urlset><url><loc>" + host + "/listed</loc></url>" + strings.Repeat(" ", smallFile) + "</urlset>"
			w.put(host+"/large.xml", answer{status: 200, took: 20 * time.Second, body: body})
			w.put(host+"/small.xml", answer{status: 200, body: "<urlset></urlset>"})
		}
		c := newCrawler(Options{Politeness: Politeness{DelayFactor: -1}}, f, w, nil)
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		large, small := 0, 0
		for _, x := range w.calls {
			switch x.most {
			case smallFile:
				small++
				if d := x.start.Sub(epoch); d > time.Minute {
					t.Errorf("%s was requested after %v: it waited for others", x.url, d)
				}
				continue
			case sitemap.MaxSize:
				large++
			default:
				continue
			}
			under := 0 // way when x began
			for _, y := range w.calls {
				if y.most == sitemap.MaxSize && !y.start.After(x.start) && y.end.After(x.start) {
					under++
				}
			}
			if under > maxLarge {
				t.Errorf("%s was requested while %d large files were read", x.url, under-1)
			}
		}
		if small != 2*hosts || large != hosts {
			t.Errorf("%d requests with the small limit and %d with the large one", small, large)
		}
		for _, e := range f.list() {
			if e.job.Visits != 1 || e.job.Last.Sub(epoch) > 80*time.Second && e.job.URL.Path() != "/listed" {
				t.Errorf("%s: %d visits, the last after %v", e.job.URL, e.job.Visits, e.job.Last.Sub(epoch))
			}
		}
		if n := len(f.list()); n != 22*hosts {
			t.Errorf("%d URLs are known, want %d", n, 22*hosts)
		}
		if s := c.Status(0); len(s.Failures) > 0 || s.Sitemaps != 3*hosts {
			t.Errorf("%+v", s)
		}
	})
}

// A large answer that is not a sitemap, and a sitemap over the limit of all, are not
// requested again.
func TestTooLargeSitemaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/")
		parseWeb(t, w, "https://a.example/ 200 page=home\nhttps://a.example/robots.txt 200\n  Sitemap: /missing.xml\n  Sitemap: /huge.xml")
		w.put("https://a.example/missing.xml", answer{status: 404, body: strings.Repeat(" ", smallFile+1)})
		w.put("https://a.example/huge.xml", answer{status: 200, body: strings.Repeat(" ", sitemap.MaxSize+1)})
		c := newCrawler(Options{}, f, w, nil)
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		asked := make(map[page.URL]int)
		for _, x := range w.calls {
			asked[x.url]++
		}
		if asked["https://a.example/missing.xml"] != 1 || asked["https://a.example/huge.xml"] != 2 {
			t.Errorf("requests: %v", asked)
		}
	})
}

// A redirect on the host belongs to the file that it leads away from: it does not count
// as another sitemap. One to another host counts there.
func TestRedirectedSitemaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/", "https://b.example/")
		parseWeb(t, w, `
https://a.example/ 200 page=home
https://b.example/ 200 page=home
https://a.example/robots.txt 200
  Sitemap: /0.xml
  Sitemap: /1.xml
  Sitemap: /2.xml
https://b.example/robots.txt 200
  Sitemap: /0.xml
  Sitemap: /1.xml
  Sitemap: /2.xml
https://b.example/0.xml 302 location=https://a.example/b.xml
https://b.example/1.xml 404
https://b.example/2.xml 404
https://a.example/b.xml 200`)
		for i := range 3 {
			parseWeb(t, w, fmt.Sprintf("https://a.example/%d.xml 301 location=/%d/moved.xml\nhttps://a.example/%[1]d/moved.xml 302 location=/%[1]d/again.xml", i, i))
			w.put(fmt.Sprintf("https://a.example/%d/again.xml", i), answer{status: 200, body: urlset("https://a.example", i+1)})
		}
		if err := newCrawler(Options{Sources: Sources{MaxSitemaps: 3}}, f, w, nil).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(f.list()); n != 5 {
			t.Errorf("%d URLs are known, want 5", n)
		}
		for _, x := range w.calls {
			if x.url == "https://a.example/b.xml" {
				t.Errorf("%s was requested after as many sitemaps as the host may have", x.url)
			}
		}
	})
}

// A sitemap on another host is read every day, whichever of the two hosts begins its pass first.
func TestSitemapsOnAnotherHostEveryDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/", "https://b.example/")
		parseWeb(t, w, `
https://a.example/ 200 page=home
https://a.example/robots.txt 200 took=10m
  Sitemap: https://b.example/a.xml
https://b.example/ 200 page=home
https://b.example/robots.txt 200
  Sitemap: /slow.xml
https://b.example/slow.xml 404 took=30m`)
		w.put("https://b.example/a.xml", answer{status: 200, body: urlset("https://a.example", 0)})
		const days = 5
		ctx, cancel := context.WithTimeout(t.Context(), days*passInterval)
		defer cancel()
		o := Options{Follow: true, Memory: Memory{IdleTime: days * passInterval}}
		if err := newCrawler(o, f, w, nil).Run(ctx); err != nil {
			t.Fatal(err)
		}
		var reads [days]int
		for _, x := range w.byStart() {
			if x.url == "https://b.example/a.xml" {
				reads[x.start.Sub(epoch)/passInterval]++
			}
		}
		if reads != [days]int{1, 1, 1, 1, 1} {
			t.Errorf("the sitemap was read %d times on each day", reads)
		}
	})
}

// A host that is left alone, and should make room for others, is woken while its state is stored. Its
// sitemaps were not read: the pass is not over, and a probe that was queued is not under way.
func TestPassOfAHostThatStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{}, newFrontier(), newWeb(), nil)
		c.begin(t.Context())
		now := time.Now()
		h := loadedHost(c, "https://a.example")
		h.policy = robots.Policy{Verdict: robots.AllowAll, Until: now.Add(time.Hour)}
		h.group = h.policy.Group("indexer")
		h.aux.announced = []page.URL{"https://a.example/s.xml"}
		c.beginPass(h, now)
		c.queueProbe(h)
		allowed := h.group
		h.group = robots.Parse([]byte("User-agent: *\nDisallow: /")).Group("indexer")
		h.decideAgain()
		c.filter(h)
		c.apply(<-c.results)
		if len(h.aux.queue) > 0 || h.soft.under > 0 {
			t.Errorf("%d requests that are not allowed wait, and %d probes are under way", len(h.aux.queue), h.soft.under)
		}
		h.group, h.aux.passing, h.aux.read = allowed, false, time.Time{}
		c.beginPass(h, now)
		c.queueProbe(h)
		c.crowded, h.dirty, h.soft.Asked = true, true, now
		c.leaveAlone(h, stateBackoff, "it failed", now.Add(time.Hour), now)
		if h.soft.under > 0 || !h.soft.learning() {
			t.Errorf("%d probes are under way, and none is due", h.soft.under)
		}
		h.jobs.wake()
		c.apply(<-c.results)
		if _, _ = c.nextRequest(h, now); !h.aux.read.IsZero() || h.soft.under > 0 {
			t.Errorf("the sitemaps were read at %v, and %d probes are under way", h.aux.read, h.soft.under)
		}
		c.workers.Wait()
	})
}

// A host with as many sitemaps as it may have has its feeds read as well.
func TestFeedsBesideManySitemaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/")
		parseWeb(t, w, `
https://a.example/robots.txt 200
  Sitemap: /0.xml
  Sitemap: /1.xml
https://a.example/ 200
  <html><head><link rel=alternate type=application/rss+xml href=/feed></head></html>
https://a.example/feed 200
  <rss><channel><item><link>https://a.example/new</link></item></channel></rss>`)
		for i := range 2 {
			w.put(fmt.Sprintf("https://a.example/%d.xml", i), answer{status: 200, body: urlset("https://a.example", 1)})
		}
		if err := newCrawler(Options{Sources: Sources{MaxSitemaps: 2}}, f, w, nil).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if f.entries["https://a.example/0"] == nil || f.entries["https://a.example/new"] == nil {
			t.Errorf("the crawl knows %d URLs", len(f.entries))
		}
	})
}

// A sitemap that several hosts announce lists pages of all of them, even if an index leads to
// it. Pages of hosts that do not announce it are left out.
func TestSeveralHostsAnnounceASitemap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/", "https://b.example/", "https://c.example/")
		parseWeb(t, w, `
https://a.example/robots.txt 200
  Sitemap: https://maps.example/index.xml
https://b.example/robots.txt 200
  Sitemap: https://maps.example/index.xml
https://maps.example/index.xml 200
  <sitemapindex><sitemap><loc>https://maps.example/s.xml</loc></sitemap></sitemapindex>
https://maps.example/s.xml 200
  <urlset><url><loc>https://a.example/1</loc></url><url><loc>https://b.example/1</loc></url><url><loc>https://c.example/1</loc></url></urlset>`)
		if err := newCrawler(Options{}, f, w, nil).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for u, want := range map[page.URL]bool{"https://a.example/1": true, "https://b.example/1": true, "https://c.example/1": false} {
			if known := f.entries[u] != nil; known != want {
				t.Errorf("%s is known: %t, want %t", u, known, want)
			}
		}
		reads := 0
		for _, x := range w.calls {
			if x.url == "https://maps.example/s.xml" {
				reads++
			}
		}
		if reads != 1 {
			t.Errorf("the sitemap was requested %d times", reads)
		}
	})
}

// Only a limited number of the sitemaps of a long index are kept, on all hosts together.
func TestLongIndex(t *testing.T) {
	var index strings.Builder
	index.WriteString("<sitemapindex>")
	for i := range sitemap.MaxEntries {
		fmt.Fprintf(&index, "<sitemap><loc>https://h%d.example/s.xml</loc></sitemap>", i/2) // each twice
	}
	index.WriteString("</sitemapindex>")
	core, logs := observer.New(zap.InfoLevel)
	c := newCrawler(Options{Log: zap.New(core)}, newFrontier(), newWeb(), nil)
	c.asked = t.Context()
	const u = "https://a.example/index.xml"
	l := c.read(t.Context(), auxiliary{url: u, announcer: "https://a.example"}, &fetch.Result{
		Fetch: page.Fetch{URL: u, Status: 200, Body: []byte(index.String())},
	})
	if n := len(l.more); n != 100 || l.more[99].url != "https://h99.example/s.xml" || l.err != nil {
		t.Errorf("%d files are kept (%v)", n, l.err)
	}
	if all := logs.All(); len(all) != 1 || all[0].Message != u+": it lists more than 100 sitemaps; the rest is left out" {
		t.Errorf("logged: %v", all)
	}
}

// The sitemaps that a robots.txt names may take long to resolve. Not all of them are tried then.
func TestSitemapsOfRobots(t *testing.T) {
	lines := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "Sitemap: "+format+"\n", i)
		}
		return b.String()
	}
	const most = 100
	for _, test := range []struct {
		name, body  string
		least, most int // sitemaps
	}{
		{"all are good", lines(2*most, "/%d.xml"), most, most},
		{"most are bad", lines(10*most-1, "ftp://%d.example/") + lines(2, "/%d.xml"), 1, 1},
		{"thousands of segments", lines(60, "/%d"+strings.Repeat("/%%", 4000)), 10, 50},
	} {
		p := robots.Policy{Verdict: robots.Obey, Copy: &robots.Copy{Body: []byte(test.body)}}
		if n := len(sitemapsOf(p, "https://a.example", most)); n < test.least || n > test.most {
			t.Errorf("%s: %d sitemaps, want %d to %d", test.name, n, test.least, test.most)
		}
	}
}
