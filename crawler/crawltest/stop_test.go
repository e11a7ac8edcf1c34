package crawltest

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler"
)

// TestStop interrupts a crawl in the middle. Everything requested is loaded; the next
// run continues, and in the end every page was requested once.
func TestStop(t *testing.T) {
	t.Parallel()
	w, s := stopWeb(t, "left.ip50", "right.ip51")
	_, want := crawlOnce(t, s)
	w.Forget()

	s = NewSetting(t.TempDir(), time.Millisecond, s.Seeds...)
	for run := range 3 {
		ctx, stop := context.WithCancel(t.Context())
		var visited atomic.Int64
		s.Say = func(event, _ string) {
			if event == "visited" && visited.Add(1) == 10 {
				stop()
			}
		}
		session := openCrawl(t, s)
		err := session.Run(ctx)
		stop()
		if err != nil {
			t.Errorf("run %d: %v", run, err)
		}
		if session.Status.Ended != "stopped" {
			t.Errorf("run %d ended as %q", run, session.Status.Ended)
		}
		closeCrawl(t, session)
	}
	s.Say = nil
	_, got := crawlOnce(t, s)
	w.CheckCounts(t, w.Expected(t))
	if got != want {
		t.Errorf("the digest is %s, undisturbed %s", got, want)
	}
	if _, replayed := Replay(t, s.WARC); replayed != want {
		t.Errorf("the archive's replay has digest %s, undisturbed %s", replayed, want)
	}
}

// TestAbort stops a crawl at once, with a request under way that is never answered.
// That does not count against the host, and the next run requests the page again.
func TestAbort(t *testing.T) {
	t.Parallel()
	w := Serve(t, `
-- 2024-01-01 http://slow.ip52/ --
<title>Start</title><p>This page leads to one that is not answered at first: whoever waits for it is stopped then. <a href="/page">page</a>
-- 2024-01-01 http://slow.ip52/page --
X-Serve: hang
-- 2024-02-01 http://slow.ip52/page --
<title>Page</title><p>In February this page is answered like any other, and so it is in the index when all has come to its end.
`)
	w.At("2024-01-15")
	s := NewSetting(t.TempDir(), time.Millisecond, w.URL("http://slow.ip52/"))
	s.Fetch.HeaderTime, s.Fetch.TotalTime = time.Hour, time.Hour
	session := openCrawl(t, s)
	begun := make(chan struct{})
	session.Say = func(event, what string) {
		if event == "begin" && what == string(w.URL("http://slow.ip52/page")) {
			close(begun)
		}
	}
	session.Made = func(c *crawler.Crawler) {
		go func() {
			<-begun
			c.Abort()
		}()
	}
	if err := session.Run(t.Context()); !errors.Is(err, crawler.ErrAborted) {
		t.Errorf("Run returned %v", err)
	}
	closeCrawl(t, session)

	w.At("2024-02-15")
	s.Fetch.HeaderTime = 0
	docs, _ := crawlOnce(t, s)
	checkMembers(t, w.Members(docs), []string{"slow.ip52/", "slow.ip52/page"})
}

// stopWeb is the web of kill.txt, on other addresses.
func stopWeb(t testing.TB, left, right string) (*Web, Setting) {
	t.Helper()
	text, err := os.ReadFile("testdata/kill.txt")
	if err != nil {
		t.Fatal(err)
	}
	w := Serve(t, strings.NewReplacer("left.ip20", left, "right.ip21", right).Replace(string(text))+plainPages(left, 40)+plainPages(right, 40))
	return w, NewSetting(t.TempDir(), time.Millisecond, w.URL("http://"+left+"/"), w.URL("http://"+right+"/"))
}

func openCrawl(t testing.TB, s Setting) *Session {
	t.Helper()
	session, err := Open(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return session
}

func closeCrawl(t testing.TB, s *Session) {
	t.Helper()
	if err := s.Repo.Close(); err != nil {
		t.Error(err)
	}
}
