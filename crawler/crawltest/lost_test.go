package crawltest

import (
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/frontier"
)

// TestLostVisits ends a crawl between the record of a fetch and its load. The next crawl loads what
// was recorded. The page then fails, is gone, or is what it was at first, and the replay of the
// archive gives the index of the crawl.
func TestLostVisits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		host, before, after string
		status              int // of the last visit
	}{
		{"lost.ip141", "500 --", "500 --", 500},
		{"lost.ip142", "200 --", "404 --", 404},
		{"lost.ip143", "200 --\nETag: \"1\"\n", "200 --\nETag: \"1\"\n", 200},
	} {
		w := Serve(t, strings.NewReplacer("HOST", c.host, "BEFORE", c.before, "AFTER", c.after).Replace(`-- 2024-01-01 http://HOST/ --
<title>Start</title><p>This is the first page of the host, and it leads to another: <a href="/page">page</a>
-- 2024-01-01 http://HOST/page BEFORE
<title>Page</title><p>This is what the page says in January, and again in March, if it can be read then at all.
-- 2024-02-01 http://HOST/page --
ETag: "2"

<title>Page</title><p>In February the page has other words than it had before, which the crawl records and does not load.
-- 2024-03-01 http://HOST/page AFTER
<title>Page</title><p>This is what the page says in January, and again in March, if it can be read then at all.
`))
		w.At("2024-01-15")
		s := NewSetting(t.TempDir(), time.Millisecond, w.URL("http://"+c.host+"/"))
		s.Options.MaxWait = -1
		session := openCrawl(t, s)
		if err := session.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.At("2024-02-15")
		due := w.URL("http://" + c.host + "/page")
		session.MakeDue(t, due)
		var made *crawler.Crawler
		session.Made = func(c *crawler.Crawler) { made = c }
		session.Say = func(event, what string) {
			if event == "visiting" && what == string(due) {
				made.Abort()
			}
		}
		if err := session.Run(t.Context()); err == nil {
			t.Fatal("the visit did not end the crawl")
		}
		session.Made, session.Say = nil, nil
		w.At("2024-03-15")
		session.MakeDue(t, due)
		w.Forget()
		if err := session.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if log := w.Log(); len(log) != 1 || log[0].Status != c.status {
			t.Errorf("status %d: the last crawl made the requests %v", c.status, log)
		}
		docs, digest := Export(t, session.Repo)
		checkMembers(t, w.Members(docs), []string{c.host + "/", c.host + "/page"})
		if _, replayed := Replay(t, session.WARC); replayed != digest {
			t.Errorf("status %d: the archive's replay has digest %s, the crawl %s", c.status, replayed, digest)
		}
		Verify(t, session.Repo)
		closeCrawl(t, session)
	}
}

// TestLostWithdrawal: if a crawl ends between the record of a withdrawal and its load, and the page
// may be fetched after all, the next crawl does so at once.
func TestLostWithdrawal(t *testing.T) {
	t.Parallel()
	w := Serve(t, plainPages("lost.ip144", 1))
	s := NewSetting(t.TempDir(), time.Millisecond, w.URL("http://lost.ip144/p/1"))
	s.Options.MaxWait, s.WARC = -1, ""
	session := openCrawl(t, s)
	defer closeCrawl(t, session)
	if err := session.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Forget()
	lost := crawler.Withdrawal(s.Seeds[0], time.Now(), crawler.RobotsRule)
	if err := frontier.LoadLost(t.Context(), session.Repo.DB(), session.Repo, &lost); err != nil {
		t.Fatal(err)
	}
	if err := session.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	docs, _ := Export(t, session.Repo)
	checkMembers(t, w.Members(docs), []string{"lost.ip144/p/1"})
	if n := w.Counts()["lost.ip144/p/1"]; n != 1 {
		t.Errorf("the page was requested %d times", n)
	}
}
