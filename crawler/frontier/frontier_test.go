package frontier_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// rig is a repository on an in-memory table, whose observers are stepped by hand.
type rig struct {
	t       *testing.T
	db      *txn.DB
	crawl   *frontier.Crawl
	front   *frontier.Frontier
	stepper *notify.Stepper
	woken   map[string]int
	clock   time.Time
}

type admitAll struct{}

func (admitAll) Admit(context.Context) error { return nil }

func (admitAll) Loading() (end func()) { return func() {} }

type discardSink struct{}

func (discardSink) Apply(context.Context, []index.Change) error { return nil }

func (discardSink) SetRanks(context.Context, []index.RankUpdate) error { return nil }

func (discardSink) Touch(context.Context, []index.Touch) ([]index.Touch, error) { return nil, nil }

func newRig(t *testing.T) *rig { return newRigOf(t, schema.PartSize{}) }

// newRigOf is one in which long lists are in parts of this size.
func newRigOf(t *testing.T, part schema.PartSize) *rig {
	t.Helper()
	ctx := context.Background()
	table, err := mem.New(txn.Groups(schema.Groups()...), mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, crawl: &frontier.Crawl{}, woken: make(map[string]int), clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	var pipeline *notify.Pipeline
	var registry *notify.Registry
	r.db, err = txn.Open(ctx, table, txn.Options{
		Observers: func(c txn.Column) []string { return registry.Observers(c) },
		Handover:  func(n []txn.Notification) { pipeline.Handover(n) },
	})
	if err != nil {
		t.Fatal(err)
	}
	extra, err := r.crawl.Resume(ctx, r.db, true)
	if err != nil {
		t.Fatal(err)
	}
	if registry, err = (observers.Options{Sink: discardSink{}, Tracker: observers.NewTracker(), Part: part}).Registry(extra...); err != nil {
		t.Fatal(err)
	}
	pipeline = notify.New(registry, notify.Options{})
	if r.stepper, err = notify.NewStepper(ctx, pipeline, r.db); err != nil {
		t.Fatal(err)
	}
	wake := func(host string) { r.woken[host]++ }
	r.crawl.Wake(wake)
	r.front = frontier.New(r.db, loader.New(r.db, admitAll{}, func(string) {}), r.crawl, wake)
	t.Cleanup(func() { _ = r.db.Close() })
	return r
}

func (r *rig) begin(c frontier.Config, seeds ...page.URL) {
	r.t.Helper()
	if err := r.crawl.Begin(context.Background(), r.db, c, seeds); err != nil {
		r.t.Fatal(err)
	}
	r.drain()
}

func (r *rig) drain() {
	r.t.Helper()
	if err := r.stepper.Drain(context.Background(), nil); err != nil {
		r.t.Fatal(err)
	}
}

// due lists the URLs of the jobs that a host has now.
func (r *rig) due(host string) []crawler.Job {
	r.t.Helper()
	jobs, _, err := r.front.Due(context.Background(), host, r.clock, 100)
	if err != nil {
		r.t.Fatal(err)
	}
	return jobs
}

func urls(jobs []crawler.Job) string {
	var list []string
	for _, j := range jobs {
		list = append(list, fmt.Sprintf("%s@%d", strings.TrimPrefix(string(j.URL), "https://"), j.Depth))
	}
	return strings.Join(list, " ")
}

// visit lets a job bring this HTML, and come back after an hour.
func (r *rig) visit(j crawler.Job, html string) {
	r.t.Helper()
	r.clock = r.clock.Add(time.Second)
	f := page.Fetch{URL: j.URL, Time: r.clock, Status: 200, Header: http.Header{"Content-Type": {"text/html"}, "Etag": {`"1"`}}, Body: []byte(html)}
	r.visited(j, f)
}

func (r *rig) visited(j crawler.Job, f page.Fetch) {
	r.t.Helper()
	due := r.clock.Add(time.Hour)
	err := r.front.Visited(context.Background(), crawler.Visit{
		Job: j, Result: fetch.Result{Fetch: f}, Fetch: f, Note: "an hour after the last visit",
		Next: func(bool) (time.Time, time.Duration) { return due, time.Hour },
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.drain()
}

func links(hrefs ...string) string {
	var b strings.Builder
	b.WriteString("<title>t</title>")
	for _, h := range hrefs {
		fmt.Fprintf(&b, "<a href=%q>x</a> ", h)
	}
	return b.String()
}

const host = "https://a.example"

var perHost = frontier.Config{Scope: "host", MaxDepth: 2}

// TestDiscovery: what a page links to is queued once, in scope, by depth.
func TestDiscovery(t *testing.T) {
	r := newRig(t)
	r.begin(perHost, "https://a.example/")
	if got := urls(r.due(host)); got != "a.example/@0" {
		t.Fatalf("seeded: %s", got)
	}
	r.visit(r.due(host)[0], links("/b", "/c", "/b#again", "https://other.example/", "mailto:x@a.example"))
	if got := urls(r.due(host)); got != "a.example/b@1 a.example/c@1" {
		t.Fatalf("after the seed: %s", got)
	}
	r.visit(r.due(host)[0], links("/", "/c", "/d"))
	r.visit(r.due(host)[0], links("/d"))
	if got := urls(r.due(host)); got != "a.example/d@2" {
		t.Fatalf("after both: %s", got)
	}
	r.visit(r.due(host)[0], links("/too-deep"))
	if got := urls(r.due(host)); got != "" {
		t.Fatalf("beyond the depth: %s", got)
	}
	if r.woken[host] == 0 || r.woken["https://other.example"] != 0 {
		t.Errorf("woken: %v", r.woken)
	}
}

// An exclude pattern goes before a seed. The seed still determines the host of the
// crawl, and is fetched once it is no longer excluded, even if it is not given again.
func TestExcludedSeed(t *testing.T) {
	r := newRig(t)
	excluding := perHost
	excluding.Exclude = []string{"/out"}
	r.begin(excluding, "https://a.example/in", "https://a.example/out", "https://b.example/out")
	if got := urls(r.due(host)); got != "a.example/in@0" {
		t.Fatalf("due: %s", got)
	}
	if got := urls(r.due("https://b.example")); got != "" {
		t.Fatalf("due of a host whose only seed is excluded: %s", got)
	}
	i, err := frontier.Inspect(t.Context(), r.db, "https://a.example/out")
	if err != nil || i.Rule != "scope.exclude" || i.NotFetched == "" {
		t.Errorf("%+v, %v", i, err)
	}
	r.visit(r.due(host)[0], links("/out", "https://b.example/c"))
	if got := urls(r.due(host)) + urls(r.due("https://b.example")); got != "b.example/c@1" {
		t.Errorf("after a visit: %s", got)
	}
	r.begin(perHost, "https://a.example/in")
	if got := urls(r.due(host)); got != "a.example/out@0" {
		t.Errorf("once nothing excludes it: %s", got)
	}
	r.begin(excluding, "https://a.example/in")
	if got := urls(r.due(host)); got != "" {
		t.Errorf("excluded while it waits: %s", got)
	}
}

// TestCloser: a page that turns out to be closer brings its links into reach.
func TestCloser(t *testing.T) {
	r := newRig(t)
	r.begin(perHost, "https://a.example/")
	r.visit(r.due(host)[0], links("/1"))
	r.visit(r.due(host)[0], links("/2"))
	r.visit(r.due(host)[0], links("/3")) // at depth 2: /3 is out of reach
	if got := urls(r.due(host)); got != "" {
		t.Fatalf("not in reach yet: %s", got)
	}
	r.clock = r.clock.Add(2 * time.Hour)
	for _, j := range r.due(host) {
		if j.URL == "https://a.example/" {
			r.visit(j, links("/1", "/2"))
		}
	}
	var fresh []crawler.Job
	for _, j := range r.due(host) {
		if j.Visits == 0 {
			fresh = append(fresh, j)
		}
	}
	if got := urls(fresh); got != "a.example/3@2" {
		t.Fatalf("in reach now: %s", got)
	}
}

// TestRedirects: the target of a redirect has the redirect's depth, and a chain ends
// after ten.
func TestRedirects(t *testing.T) {
	r := newRig(t)
	r.begin(perHost, "https://a.example/0")
	for i := 0; ; i++ {
		jobs := r.due(host)
		if len(jobs) == 0 {
			if i != 11 {
				t.Fatalf("the chain ended after %d redirects", i)
			}
			return
		}
		if jobs[0].Depth != 0 || jobs[0].Hops != i {
			t.Fatalf("redirect %d: %+v", i, jobs[0])
		}
		r.clock = r.clock.Add(time.Second)
		r.visited(jobs[0], page.Fetch{
			URL: jobs[0].URL, Time: r.clock, Status: 301, Header: http.Header{"Location": {fmt.Sprintf("/%d", i+1)}},
		})
	}
}

// TestSessionIDs: a URL with a session id is queued without it.
func TestSessionIDs(t *testing.T) {
	r := newRig(t)
	r.begin(perHost, "https://a.example/")
	r.visit(r.due(host)[0], links("/shop;jsessionid=0123456789ABCDEF0123456789ABCDEF", "/shop;jsessionid=FEDCBA98765432100123456789ABCDEF"))
	if got := urls(r.due(host)); got != "a.example/shop@1" {
		t.Fatalf("queued: %s", got)
	}
}

// TestRevisits: a visited URL comes back when it is due, with its validators.
func TestRevisits(t *testing.T) {
	r := newRig(t)
	r.begin(perHost, "https://a.example/")
	r.visit(r.due(host)[0], links())
	_, next, err := r.front.Due(context.Background(), host, r.clock, 10)
	if err != nil || !next.Equal(r.clock.Add(time.Hour)) {
		t.Fatalf("next at %v, %v", next, err)
	}
	r.clock = next
	jobs := r.due(host)
	if len(jobs) != 1 || jobs[0].ETag != `"1"` || jobs[0].Visits != 1 || jobs[0].Interval != time.Hour {
		t.Fatalf("due again: %+v", jobs)
	}
}

// TestValidators: a page's validators are dropped when another fetch decides.
func TestValidators(t *testing.T) {
	r := newRig(t)
	r.begin(perHost, "https://a.example/")
	r.visit(r.due(host)[0], links())
	r.clock = r.clock.Add(2 * time.Hour)
	j := r.due(host)[0]
	r.visited(j, page.Fetch{URL: j.URL, Time: r.clock, Status: 500})
	r.clock = r.clock.Add(2 * time.Hour)
	if j = r.due(host)[0]; j.ETag != `"1"` {
		t.Fatalf("after a failure the page is still in force, and its ETag %q with it", j.ETag)
	}
	r.visited(j, page.Fetch{URL: j.URL, Time: r.clock, Status: 302, Header: http.Header{"Location": {"/new"}}})
	r.clock = r.clock.Add(2 * time.Hour)
	for _, j := range r.due(host) {
		if j.ETag != "" {
			t.Errorf("%s is asked for with the ETag %s of what is no more", j.URL, j.ETag)
		}
	}
}

// TestRefuse: a refused URL is in no queue, and its page leaves the index.
func TestRefuse(t *testing.T) {
	r := newRig(t)
	ctx := context.Background()
	r.begin(perHost, "https://a.example/")
	r.visit(r.due(host)[0], links())
	r.clock = r.clock.Add(2 * time.Hour)
	if err := r.front.Refuse(ctx, crawler.Refusal{Job: r.due(host)[0], At: r.clock, Rule: "robots", Why: "Disallow: /", Gone: true}); err != nil {
		t.Fatal(err)
	}
	r.drain()
	if hosts, err := r.front.Hosts(ctx, "", 10); err != nil || len(hosts) != 0 {
		t.Fatalf("hosts with work: %v, %v", hosts, err)
	}
	tx := r.db.At(r.db.LastTimestamp())
	defer tx.Rollback()
	if _, outcome, err := observers.OutcomeOf(ctx, tx, "https://a.example/"); err != nil || outcome != page.Gone {
		t.Fatalf("outcome %v, %v", outcome, err)
	}
	e, _, err := frontier.ReadEntry(ctx, tx, "https://a.example/")
	if err != nil || e.State != schema.EntryRefused || !strings.Contains(e.Note, "Disallow: /") {
		t.Fatalf("entry %+v, %v", e, err)
	}
}

// TestBeginAgain: other settings bring links into scope that were seen before; the same
// settings do nothing.
func TestBeginAgain(t *testing.T) {
	r := newRig(t)
	r.begin(perHost, "https://a.example/")
	r.visit(r.due(host)[0], links("https://www.a.example/x", "https://sub.a.example/y"))
	if hosts, _ := r.front.Hosts(context.Background(), "", 10); !slices.Equal(hosts, []string{host, "https://www.a.example"}) && !slices.Equal(hosts, []string{host}) {
		t.Fatalf("per host: %v", hosts)
	}
	before := r.db.LastTimestamp()
	r.begin(perHost, "https://a.example/")
	if after := r.db.LastTimestamp(); after > before+4 {
		t.Errorf("the same settings took %d timestamps", after-before)
	}
	r.begin(frontier.Config{Scope: "domain", MaxDepth: 2}, "https://a.example/")
	if got := urls(r.due("https://sub.a.example")); got != "sub.a.example/y@1" {
		t.Fatalf("per domain: %s", got)
	}
}

// TestQueueAgreesWithEntries drives random visits, refusals and postponements, and
// checks that an entry waits if and only if the queue of its host has it once.
func TestQueueAgreesWithEntries(t *testing.T) {
	rnd := testenv.Random(t)
	r := newRig(t)
	ctx := context.Background()
	r.begin(frontier.Config{Scope: "any", MaxDepth: -1}, "https://a.example/", "https://b.example/")
	for range 150 {
		hosts, err := r.front.Hosts(ctx, "", 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(hosts) == 0 {
			break // both seeds were refused before they led anywhere
		}
		jobs := r.due(hosts[rnd.IntN(len(hosts))])
		if len(jobs) == 0 {
			r.clock = r.clock.Add(time.Hour)
			continue
		}
		j := jobs[rnd.IntN(len(jobs))]
		switch rnd.IntN(10) {
		case 0:
			err = r.front.Refuse(ctx, refusal(rnd, j, r.clock))
		case 1:
			_, err = frontier.Again(ctx, r.db, []page.URL{j.URL}, r.clock.Add(time.Minute))
		default:
			var hrefs []string
			for range rnd.IntN(4) {
				hrefs = append(hrefs, fmt.Sprintf("https://%c.example/%d", 'a'+rnd.IntN(4), rnd.IntN(40)))
			}
			r.visit(j, links(hrefs...))
		}
		if err != nil {
			t.Fatal(err)
		}
		r.drain()
	}
	checkQueue(t, r)
}

func checkQueue(t *testing.T, r *rig) {
	t.Helper()
	ctx := context.Background()
	tx, err := r.db.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	queued := make(map[string]int)
	err = tx.Scan(ctx, schema.GroupQueue, "", "", func(row string, _ []txn.Version) error { queued[row]++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	err = tx.Scan(ctx, schema.GroupFrontier, "", "", func(row string, _ []txn.Version) error {
		u, err := schema.ParseURLRow(row)
		if err != nil {
			return err
		}
		e, _, err := frontier.ReadEntry(ctx, tx, u)
		at := schema.QueueRow(crawler.HostOf(u), u, e)
		if waits := e.State == schema.EntryWaiting; waits != (queued[at] == 1) {
			t.Errorf("%s is %s, and the queue has it %d times", u, e.State, queued[at])
		}
		delete(queued, at)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for row := range queued {
		t.Errorf("the queue has %q, which no entry knows", row)
	}
}

// refusal refuses a job in one of the ways there are.
func refusal(rnd *rand.Rand, j crawler.Job, now time.Time) crawler.Refusal {
	r := crawler.Refusal{Job: j, At: now, Rule: "rule", Why: "why", Gone: rnd.IntN(2) == 0}
	if rnd.IntN(2) == 0 {
		r.Again = now.Add(time.Hour)
	}
	return r
}
