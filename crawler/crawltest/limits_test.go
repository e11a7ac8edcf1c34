package crawltest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
)

// TestLimits ends crawls of one chain of pages by each limit. A second run without
// the limit fetches the rest, so that all pages were requested once in the end.
func TestLimits(t *testing.T) {
	t.Parallel()
	const pages = 40
	for i, c := range []struct {
		name        string
		set         func(s *Setting)
		ended       string
		least, most int // pages requested by the first run; a busy machine may request none in 200 ms
	}{
		{"pages", func(s *Setting) { s.Options.Limits.Pages = 7 }, "the limit of 7 pages is reached", 7, 7},
		{"bytes", func(s *Setting) { s.Options.Limits.Bytes = 2000 }, "the limit of 2000 bytes is reached", 2, 15},
		{"time", func(s *Setting) { s.Options.Limits.Time = 200 * time.Millisecond }, "the limit of 200ms is reached", 0, 21},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			host := fmt.Sprintf("chain.ip%d", 90+i)
			w := Serve(t, plainPages(host, pages))
			s := NewSetting(t.TempDir(), 10*time.Millisecond, w.URL("http://"+host+"/p/1"))
			limited := s
			c.set(&limited)
			session := openCrawl(t, limited)
			if err := session.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if session.Status.Ended != c.ended {
				t.Errorf("it ended as %q, want %q", session.Status.Ended, c.ended)
			}
			closeCrawl(t, session)
			if n := len(w.Counts()); n < c.least || n > c.most {
				t.Errorf("%d pages were requested, want %d to %d", n, c.least, c.most)
			}
			docs, digest := crawlOnce(t, s)
			w.CheckCounts(t, w.Expected(t))
			checkMembers(t, w.Members(docs), w.indexed())
			if _, replayed := Replay(t, s.WARC); replayed != digest {
				t.Errorf("the archive's replay has digest %s, the crawls %s", replayed, digest)
			}
		})
	}
}

// TestReach: how far from the seeds a crawl goes. /p/1 leads to /p/2 and so on.
func TestReach(t *testing.T) {
	t.Parallel()
	w := Serve(t, `
-- 2024-01-01 http://near.ip95/ --
<title>Near</title><p>Four links lead on from here, one to each distance that a crawl can be told to keep from its seeds.
<a href="/page">page</a> <a href="http://far.ip96/">far</a>
-- 2024-01-01 http://near.ip95/page --
<title>Page</title><p>This page is one link from the seed, and the next one is two links from it, as one can count. <a href="/next">next</a>
-- 2024-01-01 http://near.ip95/next --
<title>Next</title><p>This page is two links from the seed, and there is nothing behind it that anybody would look for.
-- 2024-01-01 http://far.ip96/ --
<title>Far</title><p>This page is on another host, and only a crawl that goes to all hosts there are comes to see it.
`)
	for _, c := range []struct {
		scope string
		depth int
		want  string
	}{
		{"page", -1, "near.ip95/"},
		{"host", 0, "near.ip95/"},
		{"host", 1, "near.ip95/ near.ip95/page"},
		{"host", -1, "near.ip95/ near.ip95/next near.ip95/page"},
		{"any", 1, "far.ip96/ near.ip95/ near.ip95/page"},
	} {
		w.Forget()
		s := NewSetting(t.TempDir(), time.Millisecond, w.URL("http://near.ip95/"))
		s.Config.Scope, s.Config.MaxDepth, s.WARC = c.scope, c.depth, ""
		crawlOnce(t, s)
		var got []string
		for name, n := range w.Counts() {
			got = append(got, name)
			if n != 1 {
				t.Errorf("%s was requested %d times", name, n)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("scope %s, depth %d: %v, want %s", c.scope, c.depth, got, c.want)
		}
	}
}

// TestRetryAfter: a host that asks for a second is left alone for it, all its pages.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	w := Serve(t, plainPages("busy.ip97", 6))
	busy := true
	w.hosts["busy.ip97"].answer = func(path string) *page.Fetch {
		if path != "/p/3" || !busy {
			return nil
		}
		busy = false // one request at a time, as the log is to prove
		return &page.Fetch{Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"1"}}}
	}
	s := NewSetting(t.TempDir(), time.Millisecond, w.URL("http://busy.ip97/p/1"))
	docs, _ := crawlOnce(t, s)
	want := w.Expected(t)
	want["busy.ip97/p/3"] = 2
	w.CheckCounts(t, want)
	checkMembers(t, w.Members(docs), w.indexed())
	log := w.Log()
	for i, x := range log[:len(log)-1] {
		gap := log[i+1].Begin.Sub(x.End)
		if x.Status == http.StatusServiceUnavailable && gap < time.Second {
			t.Errorf("%s was requested %v after the host had asked for a second", log[i+1].Path, gap)
		}
	}
}

// TestFeeds: pages that only a feed lists are found, in RSS and Atom; so are those that
// a page's <link> elements name.
func TestFeeds(t *testing.T) {
	t.Parallel()
	const delay = 5 * time.Millisecond
	w := ServeFile(t, "feeds.txt")
	s := NewSetting(t.TempDir(), delay, w.URL("http://news.ip98/"))
	docs, digest := crawlOnce(t, s)
	w.CheckCounts(t, w.Expected(t))
	w.CheckPoliteness(t, delay)
	checkMembers(t, w.Members(docs), w.indexed())
	if _, replayed := Replay(t, s.WARC); replayed != digest {
		t.Errorf("the archive's replay has digest %s, the crawl %s", replayed, digest)
	}
}
