package crawler

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/crawler/robots"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// TestRulesChangeAndKills: a host with many pages, whose visits are not due for months,
// changes its robots.txt again and again, while runs are killed at random. In the end
// the index has exactly the pages that the last rules allow, and nothing was withdrawn
// twice except what a kill left between record and frontier.
func TestRulesChangeAndKills(t *testing.T) {
	for seed := range testenv.Seeds(t, testenv.Fresh(t), 8) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { changeRules(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func changeRules(t *testing.T, rnd *rand.Rand) {
	const pages = 700 // more than one batch
	w, f := newWeb(), newFrontier()
	f.rng = rand.New(rand.NewPCG(rnd.Uint64(), 2))
	for i := range pages {
		u := page.MustParseURL(fmt.Sprintf("https://a.example/%d/%d", i%10, i))
		f.offer(u, 1, 0, "known")
		e := f.entries[u]
		e.job.Visits, e.job.Last, e.job.Interval, e.job.Due = 1, time.Now(), time.Hour, time.Now().AddDate(0, 3, 0)
		e.index, e.content = "page", "as it was"
	}
	var rules string
	w.dynamic = func(u page.URL) (answer, bool) {
		if u.Path() == "/robots.txt" {
			return answer{status: 200, took: 100 * time.Millisecond, header: map[string][]string{}, body: rules}, true
		}
		return answer{status: 200, took: 10 * time.Millisecond, header: map[string][]string{"Content-Type": {"text/html"}}, body: htmlPage(string(u))}, true
	}
	r := &withdrawals{last: make(map[page.URL]bool)}
	kills := 0
	o := Options{Politeness: Politeness{MinDelay: time.Millisecond, DelayFactor: -1}, MaxWait: -1}
	for round := range 4 {
		var disallowed [10]bool
		rules = fmt.Sprintf("# round %d\nUser-agent: *\n", round)
		for i := range disallowed {
			if disallowed[i] = rnd.IntN(2) == 0; disallowed[i] {
				rules += fmt.Sprintf("Disallow: /%d/\n", i)
			}
		}
		time.Sleep(25 * time.Hour) // robots.txt has to be asked for again
		due := page.MustParseURL(fmt.Sprintf("https://a.example/due/%d", round))
		f.offer(due, 1, 0, "something is due")
		for again := true; again; {
			c := newCrawler(o, f, w, r)
			if again = rnd.IntN(4) > 0; again {
				kills++
				time.AfterFunc(time.Duration(rnd.Int64N(int64(40*time.Second))), c.Abort)
			}
			if err := c.Run(t.Context()); err != nil && !errors.Is(err, ErrAborted) && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		f.check(t)
		for u, e := range f.entries {
			var part, n int
			if _, err := fmt.Sscanf(u.Path(), "/%d/%d", &part, &n); err != nil {
				continue
			}
			if want := disallowed[part]; e.refused != want || (e.index == "gone") != want {
				t.Fatalf("round %d: %s: refused %v, in the index %s; disallowed %v", round, u, e.refused, e.index, want)
			}
		}
	}
	if extra := r.repeated; extra > kills {
		t.Errorf("%d withdrawals were recorded twice in a row, with %d kills", extra, kills)
	}
}

// withdrawals is a Recorder that counts how often a page was withdrawn that was
// withdrawn already.
type withdrawals struct {
	mu       sync.Mutex
	repeated int
	last     map[page.URL]bool
}

func (r *withdrawals) Record(_ context.Context, u page.URL, res *fetch.Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	gone := res.Fetch.Header.Get(withdrawnHeader) != ""
	if gone && r.last[u] {
		r.repeated++
	}
	r.last[u] = gone
	return nil
}

// A robots.txt that cannot be reached, or that has equal rules in other words, refuses
// nothing and causes no reads.
func TestSameRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/0")
		chain(t, w, "https://a.example", 3, time.Millisecond)
		for _, body := range []string{"User-agent: *\nDisallow: /x\n", "# new\n\nUser-agent: *\nDisallow: /x # a word\n"} {
			w.put("https://a.example/robots.txt", answer{status: 200, body: body})
		}
		w.put("https://a.example/robots.txt", answer{status: 503})
		known := 0
		f.fault = func(op string) error {
			if op == "known" {
				known++
			}
			return nil
		}
		c := newCrawler(Options{Follow: true}, f, w, nil)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*24*time.Hour, cancel)
		if err := c.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if n := len(w.byStart()); known != 1 || n < 10 {
			t.Errorf("the known URLs were read %d times, in %d requests", known, n)
		}
		for _, e := range f.list() {
			if e.refused {
				t.Errorf("%s: %s", e.job.URL, e.note)
			}
		}
	})
}

// A crawl with Follow sleeps when nothing is due: in a quiet year it asks the frontier
// only as often as something is due.
func TestFollowSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/", "https://b.example/")
		parseWeb(t, w, "https://a.example/robots.txt 200\n  Sitemap: /s.xml\nhttps://a.example/ 200 page=a\nhttps://b.example/ 200 page=b")
		none := Sources{NoSitemaps: true, NoFeeds: true}
		c := newCrawler(Options{Follow: true, Sources: none, Paused: func() string { return "" }, Revisits: Revisits{MinInterval: 30 * 24 * time.Hour}}, f, w, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var before int
		time.AfterFunc(24*time.Hour, func() { f.mu.Lock(); before = f.due; f.mu.Unlock() })
		time.AfterFunc(29*24*time.Hour, cancel)
		if err := c.Run(ctx); err != nil {
			t.Fatal(err)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.due != before || len(w.calls) != 4 {
			t.Errorf("in four quiet weeks the frontier was asked %d times for jobs, and %d requests were made", f.due-before, len(w.calls)-4)
		}
	})
}

// The rules hold for a URL that is robots.txt with a query, and it is recorded and loaded only
// as the page that it is.
func TestRobotsTxtWithAQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, f := newWeb(), newFrontier("https://a.example/robots.txt?v=1")
		parseWeb(t, w, "https://a.example/robots.txt 301 location=/robots.txt?v=2\nhttps://a.example/robots.txt?v=2 200\n  User-agent: *\n  Disallow: /")
		var loaded []page.URL
		c := newCrawler(Options{Loaded: func(_ context.Context, f page.Fetch) error {
			loaded = append(loaded, f.URL)
			return nil
		}}, f, w, nil)
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if e := f.entries["https://a.example/robots.txt?v=1"]; e.job.Visits != 0 || !e.refused {
			t.Errorf("%+v", e)
		}
		if want := []page.URL{"https://a.example/robots.txt"}; !slices.Equal(loaded, want) {
			t.Errorf("%q was loaded, want %q", loaded, want)
		}
	})
}

// The crawler asks robots.txt about jobs and files while others may hold its lock, and requests
// none of them before. If the rules change meanwhile, it asks again.
func TestRobotsFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(Options{Sources: Sources{NoProbe: true}}, newFrontier(), newWeb(), nil)
		c.begin(t.Context())
		now := time.Now()
		h := loadedHost(c, "https://a.example")
		h.marked, h.aux.read = true, now
		obey := func(rules string) {
			h.policy = robots.Policy{Verdict: robots.AllowAll, Until: now.Add(time.Hour)}
			h.group = robots.Parse([]byte("User-agent: *\n" + rules)).Group("indexer")
			h.held = h.group.Fingerprint()
			h.decideAgain()
		}
		obey("Disallow: /old")
		h.jobs.exhausted, h.jobs.ready = true, []Job{{URL: "https://a.example/old"}, {URL: "https://a.example/new"}}
		for _, u := range []page.URL{"https://a.example/old.xml", "https://a.example/new.xml"} {
			h.aux.push(auxiliary{url: u}, 2, now)
		}
		c.advance(h, now)
		if r, _ := c.nextRequest(h, now); r != nil || len(h.jobs.ready) != 2 || len(h.aux.queue) != 2 {
			t.Errorf("before an answer: the request %v, %d jobs, %d files", r, len(h.jobs.ready), len(h.aux.queue))
		}
		obey("Disallow: /new")
		c.apply(<-c.results)
		if len(h.jobs.ready) != 2 || len(h.aux.queue) != 2 || !h.mustFilter(now) {
			t.Errorf("by rules that hold no more, %d of 2 jobs and %d of 2 files are left", len(h.jobs.ready), len(h.aux.queue))
		}
		c.advance(h, now)
		h.aux.push(auxiliary{url: "https://a.example/late.xml"}, 3, now)
		c.apply(<-c.results)
		if len(h.jobs.refused) != 1 || h.jobs.refused[0].URL != "https://a.example/new" || len(h.aux.queue) != 2 || h.mustFilter(now) {
			t.Errorf("refused %v, kept the files %v", h.jobs.refused, h.aux.queue)
		}
		if r, _ := c.nextRequest(h, now); r == nil || r.url != "https://a.example/old" {
			t.Errorf("the first request is %v", r)
		}
		h.aux.take()
		if !h.mustFilter(now) {
			t.Error("the file that was queued meanwhile counts as allowed")
		}
		c.workers.Wait()
	})
}
