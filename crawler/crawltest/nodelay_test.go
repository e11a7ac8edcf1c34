package crawltest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/page"
)

// fan is the text of a host whose root links to n pages.
func fan(host string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- 2024-01-01 http://%s/ --\n<title>%s</title><p>Each of the %d pages of %s is one link away from this one, and all are found at once.\n", host, host, n, host)
	for i := range n {
		fmt.Fprintf(&b, `<a href="/w/%d">page %d</a>`+"\n", i, i)
	}
	for i := range n {
		fmt.Fprintf(&b, "-- 2024-01-01 http://%s/w/%d --\n<title>Page %d</title><p>Page %d of %s, which links nowhere, and says %d, so that it is like no other page there.\n", host, i, i, i, host, i*i)
	}
	return b.String()
}

func slowFan(host string, n int) string {
	return fan(host, n) + "-- 2024-01-01 http://" + host + "/robots.txt --\nContent-Type: text/plain\n\nUser-agent: *\nCrawl-delay: 0.05\n"
}

// TestNoDelay: without a delay there is no pause between two requests, but a host still
// gets one at a time, two hosts at one address take turns, and a Crawl-delay holds.
func TestNoDelay(t *testing.T) {
	t.Parallel()
	w := Serve(t, fan("left.ip110", 30)+fan("right.ip110", 30)+slowFan("calm.ip111", 8))
	s := NewSetting(t.TempDir(), 0, w.URL("http://left.ip110/"), w.URL("http://right.ip110/"), w.URL("http://calm.ip111/"))
	s.Options.Politeness = crawler.Politeness{MinDelay: -1, DelayFactor: -1}
	crawlOnce(t, s)
	w.CheckCounts(t, w.Expected(t))
	w.CheckPoliteness(t, 0)
	checkGaps(t, "host calm.ip111", w.logOf("calm.ip111"), 50*time.Millisecond)
}

func (w *Web) logOf(host string) (list []Request) {
	for _, x := range w.Log() {
		if x.Host == host {
			list = append(list, x)
		}
	}
	return list
}

// TestPerHost: a host gets several requests at a time if that is configured, and no
// more than that; a host with a Crawl-delay still gets one.
func TestPerHost(t *testing.T) {
	t.Parallel()
	const atATime = 4
	w := Serve(t, fan("own.ip112", 30)+slowFan("calm.ip113", 6))
	// The first requests are answered when as many are there as may be.
	var mu sync.Mutex
	arrived, all := 0, make(chan struct{})
	w.hosts["own.ip112"].answer = func(path string) *page.Fetch {
		if !strings.HasPrefix(path, "/w/") {
			return nil
		}
		mu.Lock()
		if arrived++; arrived == atATime {
			close(all)
		}
		mu.Unlock()
		select {
		case <-all:
		case <-time.After(20 * time.Second):
			t.Errorf("%s is the only request, and %d at a time were asked for", path, atATime)
		}
		return nil
	}
	s := NewSetting(t.TempDir(), 0, w.URL("http://own.ip112/"), w.URL("http://calm.ip113/"))
	s.Options.Politeness = crawler.Politeness{MinDelay: -1, DelayFactor: -1, PerHost: atATime}
	s.Fetch.MaxIdlePerHost = atATime
	crawlOnce(t, s)
	w.CheckCounts(t, w.Expected(t))
	checkGaps(t, "host calm.ip113", w.logOf("calm.ip113"), 50*time.Millisecond)
	list := w.logOf("own.ip112")
	for i, x := range list {
		under := 1
		for _, y := range list[:i] {
			if y.End.After(x.Begin) {
				under++
			}
		}
		if under > atATime {
			t.Errorf("%d requests were under way when %s began", under, x.Path)
		}
	}
}
