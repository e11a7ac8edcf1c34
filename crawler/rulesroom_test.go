package crawler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/crawler/robots"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

const (
	largeHosts, largePages = 9, 4
	largeRobots            = 20 << 10
	largeRoom              = 2 * largeRobots * (1 + robots.MemoryFactor) // for two of them, and one that is smaller
)

// Hosts with a large robots.txt share the memory for these: some at a time. The others wait, each
// gets its turn, and all obey their rules.
func TestLargeRobotsTakeTurns(t *testing.T) {
	for name, o := range map[string]Options{
		"a place for each":  {},
		"few places":        {Memory: Memory{Hosts: 5, Turn: 2}},
		"short turns":       {Memory: Memory{Turn: 2}},
		"several at a time": {Politeness: Politeness{PerHost: 3, PerIP: -1}},
		"one worker":        {Concurrency: 1, Memory: Memory{Turn: 3}},
		"nothing is waited": {MaxWait: -1, Memory: Memory{Hosts: 4}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, f := largeRobotsWeb(t)
				o.Seed, o.Memory.Rules, o.Sources.NoProbe = 1, largeRoom, true
				c := newCrawler(o, f, w, nil)
				most := int64(0)
				w.watch = func() { watchRules(t, c, &most) }
				if err := c.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if most == 0 || most > largeRoom {
					t.Errorf("the rules took %d bytes, with room for %d", most, largeRoom)
				}
				checkRulesObeyed(t, w)
				for _, e := range f.list() {
					if e.job.Visits == 0 && !strings.HasSuffix(string(e.job.URL), "/private") {
						t.Errorf("%s was not visited: %s", e.job.URL, e.note)
					}
				}
				if c.rules.held > largeRoom || len(c.rules.line) > 0 {
					t.Errorf("%d bytes are held, and %d hosts wait", c.rules.held, len(c.rules.line))
				}
			})
		})
	}
}

// largeRobotsWeb makes hosts, most of which have a large robots.txt with the same rules.
func largeRobotsWeb(t *testing.T) (*web, *memFrontier) {
	w, f := newWeb(), newFrontier()
	for i := range largeHosts {
		host := fmt.Sprintf("https://h%d.example", i)
		chain(t, w, host, largePages, 100*time.Millisecond)
		f.offer(page.MustParseURL(host+"/0"), 0, 0, "seed")
		f.offer(page.MustParseURL(host+"/private"), 0, 0, "seed")
		body := "User-agent: *\nCrawl-delay: 5\nDisallow: /private\n"
		if i%3 > 0 {
			body += strings.Repeat("# filler\n", (largeRobots-i*500)/9)
		}
		w.put(host+"/robots.txt", answer{status: 200, body: body})
	}
	return w, f
}

// watchRules notes the most memory that the rules of all hosts have taken. Some worker must be free of hosts that
// have to leave because there is no room for their rules.
func watchRules(t *testing.T, c *Crawler, most *int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	held, rulesMissing := int64(0), 0
	for _, h := range c.hosts {
		switch {
		case h.rulesMissing:
			rulesMissing++
		case h.loaded:
			held += rulesSize(&h.policy)
		}
	}
	if rulesMissing >= c.opts.Concurrency {
		t.Errorf("%d hosts have yet to leave without rules", rulesMissing)
	}
	*most = max(*most, held)
}

func checkRulesObeyed(t *testing.T, w *web) {
	t.Helper()
	last := make(map[string]time.Time)
	for _, x := range w.byStart() {
		host := HostOf(x.url)
		if before, ok := last[host]; ok && x.start.Sub(before) < 5*time.Second {
			t.Errorf("%s was requested %v after another page", x.url, x.start.Sub(before))
		}
		if strings.HasSuffix(string(x.url), "/private") {
			t.Errorf("%s was requested", x.url)
		}
		last[host] = x.end
	}
}

// checkRulesRoom checks that the hosts in memory hold as much room as their rules need, and together what
// there is; and that each host that waits for room is once in the line.
func checkRulesRoom(t *testing.T, c *Crawler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	held, holders, waiting := int64(0), 0, 0
	for key, h := range c.hosts {
		held += h.rules
		if h.rules > 0 {
			holders++
		}
		if h.rulesWanted > 0 {
			waiting++
			if h.loaded || h.rules > 0 || !slices.Contains(c.rules.line, h) {
				t.Errorf("%s waits for room: loaded %t, %d bytes held", key, h.loaded, h.rules)
			}
		}
		if n := rulesSize(&h.policy); h.loaded && !h.robotsBusy && !h.rulesMissing && h.rules != n {
			t.Errorf("%s holds %d bytes of room for rules of %d", key, h.rules, n)
		}
	}
	if held != c.rules.held || waiting != len(c.rules.line) {
		t.Errorf("hosts hold %d bytes of room, not %d, and %d of them wait, not %d", held, c.rules.held, waiting, len(c.rules.line))
	}
	if held > c.rules.size && holders > 1 {
		t.Errorf("%d hosts hold %d bytes of room, more than %d", holders, held, c.rules.size)
	}
}

// The hosts of random webs hold the room that their rules need, while their robots.txt files expire,
// redirect and change their size, and all obey their rules. With half of the seeds, store operations and
// the loading of robots.txt files fail now and then, which pauses the crawl.
func TestRulesRoomOfRandomWebs(t *testing.T) {
	for s := range testenv.Seeds(t, testenv.Fresh(t), 100) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(s, 7))
			w, seeds, want := buildRandomWeb(rng)
			enlargeRobots(rng, w)
			f, o := newFrontier(seeds...), randomOptions(rng)
			o.Memory.IdleTime = time.Duration(1+rng.IntN(5)) * time.Second
			o.Memory.Rules = int64(1 + rng.IntN(150<<10)) // for one to five large files
			fails := rng.IntN(2) == 0
			if fails {
				f.fault, o.Paused = fillDisk(rng)
				o.Loaded = func(context.Context, page.Fetch) error { return f.fault("") }
			}
			c := newCrawler(o, f, w, nil)
			w.watch = func() { checkRulesRoom(t, c) }
			err := c.Run(t.Context())
			checkRulesRoom(t, c)
			if fails && errors.Is(err, errFull) {
				return // what fails at the end is not repeated
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range f.list() {
				if should := want[e.job.URL]; should == "refused" && !e.refused || should != "refused" && e.index != should {
					t.Errorf("%s is %s, in the index %q (%s); it should be %q", e.job.URL, e.state, e.index, e.note, should)
				}
			}
		})
	}
}

// enlargeRobots gives some hosts several robots.txt files of different sizes, each valid for a minute.
func enlargeRobots(rng *rand.Rand, w *web) {
	for _, u := range slices.Sorted(maps.Keys(w.answers)) {
		last := len(w.answers[u]) - 1
		if a := w.answers[u][last]; strings.HasPrefix(a.body, "User-agent") && rng.IntN(3) > 0 {
			w.answers[u] = w.answers[u][:last]
			for range 1 + rng.IntN(4) {
				more := a
				more.header = http.Header{"Cache-Control": {"max-age=60"}}
				more.body += strings.Repeat("# filler\n", rng.IntN(16<<10/9))
				w.put(string(u), more)
			}
		}
	}
}

// fillDisk makes one in ten store operations fail, each because the disk is full for a second.
func fillDisk(rng *rand.Rand) (fault func(op string) error, paused func() string) {
	var mu sync.Mutex
	var until time.Time
	fault = func(string) error {
		mu.Lock()
		defer mu.Unlock()
		if rng.IntN(10) > 0 {
			return nil
		}
		until = time.Now().Add(time.Second)
		return errFull
	}
	return fault, func() string {
		mu.Lock()
		defer mu.Unlock()
		if time.Now().Before(until) {
			return errFull.Error()
		}
		return ""
	}
}

var errFull = errors.New("no space left on device")
