package crawler

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

// A large answer that is no sitemap, and a sitemap over the limit of all, are not
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
