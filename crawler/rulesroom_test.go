package crawler

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/crawler/robots"
	"github.com/webindexer/indexer/page"
)

// Hosts with a large robots.txt share the memory for these: some at a time. The others wait, each
// gets its turn, and all obey their rules.
func TestLargeRobotsTakeTurns(t *testing.T) {
	const (
		hosts, pages = 9, 4
		large        = 20 << 10
		room         = 2 * large * (1 + robots.MemoryFactor) // for two of them, and one that is smaller
	)
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
				w, f := newWeb(), newFrontier()
				for i := range hosts {
					host := fmt.Sprintf("https://h%d.example", i)
					chain(t, w, host, pages, 100*time.Millisecond)
					f.offer(page.MustParseURL(host+"/0"), 0, 0, "seed")
					f.offer(page.MustParseURL(host+"/private"), 0, 0, "seed")
					body := "User-agent: *\nCrawl-delay: 5\nDisallow: /private\n"
					if i%3 > 0 {
						body += strings.Repeat("# filler\n", (large-i*500)/9)
					}
					w.put(host+"/robots.txt", answer{status: 200, body: body})
				}
				o.Seed, o.Memory.Rules, o.Sources.NoProbe = 1, room, true
				c := newCrawler(o, f, w, nil)
				most := int64(0)
				w.watch = func() {
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
					most = max(most, held)
					if rulesMissing >= c.opts.Concurrency {
						t.Errorf("%d hosts have yet to leave without rules", rulesMissing)
					}
				}
				if err := c.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if most == 0 || most > room {
					t.Errorf("the rules took %d bytes, with room for %d", most, room)
				}
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
				for _, e := range f.list() {
					if e.job.Visits == 0 && !strings.HasSuffix(string(e.job.URL), "/private") {
						t.Errorf("%s was not visited: %s", e.job.URL, e.note)
					}
				}
				if c.rules.held > room || len(c.rules.line) > 0 {
					t.Errorf("%d bytes are held, and %d hosts wait", c.rules.held, len(c.rules.line))
				}
			})
		})
	}
}
