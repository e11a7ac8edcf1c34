package crawler

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webindexer/indexer/crawler/division"
	"github.com/webindexer/indexer/crawler/partition"
	"github.com/webindexer/indexer/internal/sharedtest"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// team is several crawlers, each as if in a process of its own, on one frontier and one
// table.
type team struct {
	t           *testing.T
	rng         *rand.Rand
	web         *web
	options     Options
	every       time.Duration // how often members look at the table
	frontier    *memFrontier
	table       store.Table
	coordinator *sharedtest.Coordinator
	worker      *txn.DB // of a process that runs observers
	work        sync.WaitGroup
}

func newTeam(t *testing.T, rng *rand.Rand, w *web, o Options, seeds []string) *team {
	m := &team{t: t, rng: rng, web: w, options: o, every: 10 * time.Second, frontier: newFrontier(seeds...), table: sharedtest.Table(t, txn.Groups(division.Group)), coordinator: sharedtest.New()}
	m.worker, _ = m.open()
	m.frontier.wake = func(host string) {
		_, err := m.worker.Run(context.Background(), func(tx *txn.Txn) error { return division.Notify(context.Background(), tx, host) })
		if err != nil {
			t.Error(err)
		}
	}
	return m
}

func (m *team) open() (*txn.DB, *sharedtest.Process) {
	process := m.coordinator.Join()
	db, err := txn.Open(context.Background(), m.table, txn.Options{Coordination: &txn.Coordination{Timestamps: process, Liveness: process, RowLocks: process}})
	if err != nil {
		m.t.Fatal(err)
	}
	return db, process
}

func (m *team) close() {
	m.work.Wait()
	if err := errors.Join(m.worker.Close(), m.table.Close()); err != nil {
		m.t.Error(err)
	}
}

// teamEnding is how a crawler of a team ends.
type teamEnding uint8

const (
	byItself teamEnding = iota
	byInterrupt
	byKill
	byLoss // it learns a moment before the others that they may consider it dead
)

// losing is a liveness token that becomes invalid in its process before the others know.
type losing struct {
	*sharedtest.Process
	lost atomic.Bool
}

func (l *losing) Valid() error {
	if l.lost.Load() {
		return sharedtest.ErrDead
	}
	return l.Process.Valid()
}

// knowsBefore is how long before, at least as long as the member takes to look.
const knowsBefore = 1100 * time.Millisecond

// guarded is the frontier as a crawler of a team uses it: what is under way when the
// process dies is not committed. The lock makes the guard and what it guards one step.
type guarded struct {
	*memFrontier
	db     *txn.DB
	member *division.Member
	lock   chan struct{}
	linger func()
}

func (g *guarded) Visited(ctx context.Context, v Visit) error {
	g.linger()
	defer g.linger()
	return g.commit(ctx, HostOf(v.Job.URL), func() error { return g.memFrontier.Visited(ctx, v) })
}

func (g *guarded) Refuse(ctx context.Context, r Refusal) error {
	return g.commit(ctx, HostOf(r.Job.URL), func() error { return g.memFrontier.Refuse(ctx, r) })
}

func (g *guarded) SaveHost(ctx context.Context, host string, state []byte) error {
	return g.commit(ctx, host, func() error { return g.memFrontier.SaveHost(ctx, host, state) })
}

func (g *guarded) commit(ctx context.Context, host string, do func() error) error {
	g.lock <- struct{}{}
	defer func() { <-g.lock }()
	_, err := g.db.Run(ctx, func(tx *txn.Txn) error { return g.member.Guard(ctx, tx, host, host) })
	if err != nil {
		return err
	}
	return do()
}

// crawl runs a crawler until it ends, or has it ended after some time.
func (m *team) crawl(ending teamEnding, after time.Duration) {
	db, process := m.open()
	live := &losing{Process: process}
	var lingers sync.Mutex
	lingering := rand.New(rand.NewPCG(m.rng.Uint64(), 1))
	m.work.Go(func() {
		defer func() {
			if err := db.Close(); err != nil && ending < byKill {
				m.t.Error(err)
			}
		}()
		ctx, interrupt := context.WithCancel(context.Background())
		defer interrupt()
		member, err := division.Join(ctx, db, live, division.Options{Every: m.every})
		if err != nil {
			m.t.Error(err)
			return
		}
		front := &guarded{m.frontier, db, member, make(chan struct{}, 1), func() {
			lingers.Lock()
			d := time.Duration(lingering.IntN(500)) * time.Millisecond
			lingers.Unlock()
			time.Sleep(d)
		}}
		o := m.options
		o.Share = member
		c := New(o, front, m.web, nil)
		member.Start(ctx, c)
		switch ending {
		case byInterrupt:
			defer later(after, interrupt)()
		case byKill:
			defer later(after, func() {
				front.lock <- struct{}{}
				process.Die()
				c.Abort()
				<-front.lock
			})()
		case byLoss:
			defer later(after, func() {
				live.lost.Store(true)
				time.Sleep(knowsBefore)
				front.lock <- struct{}{}
				process.Die()
				<-front.lock
			})()
		}
		err = c.Run(ctx)
		if err != nil && (ending < byKill || live.Valid() == nil) {
			m.t.Errorf("%s: %v: %+v", process.Token(), err, c.Status(5))
		}
		if _, err := member.Leave(context.Background()); err != nil {
			m.t.Error(err)
		}
		if testing.Verbose() {
			m.t.Logf("%v: %s ended: %s, %d pages", time.Since(epoch), process.Token(), c.Status(0).Ended, c.Status(0).Pages)
		}
	})
}

// later calls fn after some time, unless stop is called before. stop waits for fn to return.
func later(after time.Duration, fn func()) (stop func()) {
	done := make(chan struct{})
	timer := time.AfterFunc(after, func() {
		defer close(done)
		fn()
	})
	return func() {
		if !timer.Stop() {
			<-done
		}
	}
}

// TestTeams: crawlers join, leave and die at random while they crawl a random web. Never
// are two requests to one host, or too many to one domain, closer together than they may
// be, whichever crawlers make them; and every URL ends as if one crawler had been alone.
func TestTeams(t *testing.T) {
	n := uint64(testenv.Size(2, 6, 500))
	for s := range testenv.Seeds(t, testenv.Fresh(t), n) {
		if !t.Run(fmt.Sprintf("seed %d", s), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { teamCrawl(t, s) }) }) {
			return
		}
	}
}

// Seeds that once failed.
func TestTeamsAgain(t *testing.T) {
	for _, s := range []uint64{11269418601844569611} {
		t.Run(fmt.Sprintf("seed %d", s), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { teamCrawl(t, s) }) })
	}
}

// teamCrawl crawls a random web, with failures and long waits, or a busy one, in which
// hosts change hands while they are being asked.
func teamCrawl(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 11))
	busy := rng.IntN(2) == 0
	build := buildRandomWeb
	if busy {
		build = buildBusyWeb
	}
	w, seeds, want := build(rng)
	o := randomOptions(rng)
	o.Politeness.PerIP = -1 // each crawler has its own
	m := newTeam(t, rng, w, o, seeds)
	defer m.close()
	crawlers, lasts, apart := 1+rng.IntN(5), 120_000, 40_000
	if busy {
		m.every = 100 * time.Millisecond
		m.options.Memory, m.options.Concurrency = Memory{}, 8
		crawlers, lasts, apart = 10, 15_000, 5_000
	}
	for range crawlers {
		m.crawl(teamEnding(rng.IntN(4)), time.Duration(rng.IntN(lasts))*time.Millisecond)
		time.Sleep(time.Duration(rng.IntN(apart)) * time.Millisecond)
	}
	m.crawl(byItself, 0)
	m.work.Wait()
	m.frontier.check(t)
	checkPoliteness(t, w, o.WithDefaults())
	m.frontier.checkOutcomes(t, want)
}

// buildBusyWeb makes a web of some sites with many pages each, which are all there.
func buildBusyWeb(rng *rand.Rand) (w *web, seeds []string, want map[page.URL]string) {
	w, want = newWeb(), make(map[page.URL]string)
	const sites, pages = 8, 12
	name := func(site, n int) string { return fmt.Sprintf("https://www.site%d.example/%d", site%sites, n) }
	for s := range sites {
		w.put(fmt.Sprintf("https://www.site%d.example/robots.txt", s), answer{status: 404, took: randomTime(rng)})
		for n := range pages {
			links := []string{name(s+1, n), name(rng.IntN(sites), rng.IntN(pages))}
			if n+1 < pages {
				links = append(links, name(s, n+1))
			}
			u := page.MustParseURL(name(s, n))
			w.put(string(u), answer{status: 200, took: randomTime(rng), header: http.Header{"Content-Type": {"text/html"}}, body: htmlPage(string(u), links...)})
			want[u] = "page"
		}
	}
	return w, []string{name(0, 0)}, want
}

// counting is a Share that counts how many files it is handed, and how many at a time.
type counting struct {
	mu               sync.Mutex
	files, now, most int
}

func (s *counting) Valid() error                           { return nil }
func (s *counting) Since() time.Time                       { return epoch }
func (s *counting) SetIdle(context.Context, bool) error    { return nil }
func (s *counting) Finished(context.Context) (bool, error) { return true, nil }

func (s *counting) Forward(context.Context, string, page.URL, []byte) error {
	s.mu.Lock()
	s.files, s.now = s.files+1, s.now+1
	s.most = max(s.most, s.now)
	s.mu.Unlock()
	time.Sleep(10 * time.Millisecond)
	s.mu.Lock()
	s.now--
	s.mu.Unlock()
	return nil
}

// TestForwardsAreBounded: two indexes list many files on hosts of another crawler, to which these
// are forwarded one by one.
func TestForwardsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const a, b = "https://a.example", "https://b.example"
		if partition.Of(a) == partition.Of(b) {
			t.Fatal("both hosts are in one partition")
		}
		w := newWeb()
		parseWeb(t, w, a+"/ 200 page=home\n"+a+"/robots.txt 200\n  Sitemap: /0.xml\n  Sitemap: /1.xml")
		for i := range 2 {
			index := "<sitemapindex>"
			for j := range 100 {
				index += fmt.Sprintf("<sitemap><loc>%s/%d-%d.xml</loc></sitemap>", b, i, j)
			}
			w.put(fmt.Sprintf("%s/%d.xml", a, i), answer{status: 200, body: index + "</sitemapindex>"})
		}
		share := new(counting)
		c := newCrawler(Options{Share: share, Politeness: Politeness{PerHost: 2}}, newFrontier(a+"/"), w, nil)
		c.Gain([]int{partition.Of(a)})
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if share.files != 200 || share.most > 1 {
			t.Errorf("%d files were forwarded, %d at a time; want 200, 1", share.files, share.most)
		}
	})
}

// TestForwardedSitemap: a sitemap on a host of another crawler is read by that one.
func TestForwardedSitemap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crawlers := []string{"process 2", "process 3"} // the worker is process 1
		site := func(owner string) string {
			for i := 0; ; i++ {
				if host := fmt.Sprintf("https://site%d.example", i); partition.Owner(crawlers, partition.Of(host)) == owner {
					return host
				}
			}
		}
		a, b := site("process 2"), site("process 3")
		w := newWeb()
		parseWeb(t, w, fmt.Sprintf(`
%[1]s/robots.txt 200
	User-agent: *
	Sitemap: %[2]s/sitemap.xml
%[1]s/ 200 page=front
%[1]s/listed 200 page=listed
%[2]s/robots.txt 404
%[2]s/sitemap.xml 200 type=text/xml
	<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>%[1]s/listed</loc></url></urlset>
`, a, b))
		o := Options{Seed: 1}
		o.Sources.NoProbe = true
		m := newTeam(t, rand.New(rand.NewPCG(1, 1)), w, o, []string{a + "/"})
		defer m.close()
		m.crawl(byItself, 0)
		m.crawl(byItself, 0)
		m.work.Wait()
		checkPoliteness(t, w, o.WithDefaults())
		if list := m.frontier.list(); len(list) != 2 || list[1].index != "page" {
			t.Errorf("the sitemap was not read: %d URLs, %v", len(list), w.byStart())
		}
	})
}
