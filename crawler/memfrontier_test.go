package crawler

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
)

// entry is a URL in a memFrontier.
type entry struct {
	job     Job
	state   string // waiting, refused, done
	refused bool   // and still waits
	note    string
	index   string // what the index would say about it: "", page, gone, redirect, other
	content string
	visits  []time.Time
}

// memFrontier is a Frontier in memory. It finds links in what is loaded, like the
// observers, and checks that the crawler keeps to the contract.
type memFrontier struct {
	inScope func(page.URL) bool
	wake    func(host string)
	fault   func(op string) error
	stagger bool
	rng     *rand.Rand // nil: operations take no time

	mu      sync.Mutex
	entries map[page.URL]*entry
	states  map[string][]byte
	wrong   []string
	due     int // calls of Due
}

func newFrontier(seeds ...string) *memFrontier {
	f := &memFrontier{
		inScope: func(page.URL) bool { return true },
		wake:    func(string) {},
		entries: make(map[page.URL]*entry),
		states:  make(map[string][]byte),
	}
	for _, s := range seeds {
		f.offer(page.MustParseURL(s), 0, 0, "seed")
	}
	return f
}

func (f *memFrontier) offer(u page.URL, depth, hops int, note string) bool {
	if f.entries[u] != nil || !f.inScope(u) || hops > 10 {
		return false
	}
	f.entries[u] = &entry{job: Job{URL: u, Depth: depth, Hops: hops, Source: note}, state: "waiting", note: note}
	return true
}

// apart makes operations on different hosts end at different times, so that the order
// of what follows, and with it a drawing, does not depend on the Go scheduler.
func (f *memFrontier) apart(host string) {
	if f.stagger {
		time.Sleep(stagger(host))
	}
}

// linger makes an operation take a random time.
func (f *memFrontier) linger() {
	if f.rng == nil {
		return
	}
	f.mu.Lock()
	d := time.Duration(f.rng.IntN(500)) * time.Millisecond
	f.mu.Unlock()
	time.Sleep(d)
}

// stagger is a few microseconds, different for each host.
func stagger(host string) time.Duration {
	h := fnv.New32a()
	h.Write([]byte(host))
	return time.Duration(1+h.Sum32()%199) * 100 * time.Nanosecond
}

func (f *memFrontier) fail(op string) error {
	if f.fault == nil {
		return nil
	}
	return f.fault(op)
}

func (f *memFrontier) Hosts(_ context.Context, after string, n int) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set := make(map[string]bool)
	for u, e := range f.entries {
		if e.state == "waiting" && HostOf(u) > after {
			set[HostOf(u)] = true
		}
	}
	hosts := make([]string, 0, len(set))
	for h := range set {
		hosts = append(hosts, h)
	}
	slices.Sort(hosts)
	return hosts[:min(n, len(hosts))], f.fail("hosts")
}

func (f *memFrontier) Due(_ context.Context, host string, now time.Time, n int) ([]Job, time.Time, error) {
	f.apart(host)
	defer f.linger() // what is returned is no longer new
	f.mu.Lock()
	defer f.mu.Unlock()
	f.due++
	var jobs []Job
	for u, e := range f.entries {
		if e.state == "waiting" && HostOf(u) == host {
			jobs = append(jobs, e.job)
		}
	}
	slices.SortFunc(jobs, func(a, b Job) int {
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Depth, b.Depth), cmp.Compare(a.URL, b.URL))
	})
	for i, j := range jobs {
		if i == n || j.Due.After(now) {
			return jobs[:i], j.Due, f.fail("due")
		}
	}
	return jobs, time.Time{}, f.fail("due")
}

func (f *memFrontier) Visited(_ context.Context, v Visit) error {
	if err := f.fail("visited"); err != nil {
		return err
	}
	f.linger()
	defer f.linger()
	f.mu.Lock()
	e := f.entries[v.Job.URL]
	if e == nil || e.state != "waiting" || e.job.Visits != v.Job.Visits {
		f.wrong = append(f.wrong, fmt.Sprintf("visit of %s, which was not due as the job said", v.Job.URL))
		f.mu.Unlock()
		return nil
	}
	woken := f.load(e, v)
	f.mu.Unlock()
	for h := range woken {
		f.wake(h)
	}
	return nil
}

// load puts a visit in force and finds links.
func (f *memFrontier) load(e *entry, v Visit) (woken map[string]bool) {
	woken = make(map[string]bool)
	changed := false
	if v.Fetch.URL != "" && !v.Fetch.IsRevisit() && !v.Fetch.HasFailed() {
		doc := page.Interpret(&v.Fetch)
		content := doc.Outcome.String() + doc.Key.String() + string(doc.Target)
		changed = content != e.content
		e.content, e.index = content, doc.Outcome.String()
		targets := doc.Links
		if doc.Outcome == page.Redirect && doc.Target != "" && f.offer(doc.Target, e.job.Depth, e.job.Hops+1, string(v.Job.URL)) {
			woken[HostOf(doc.Target)] = true
		}
		for _, l := range targets {
			if f.offer(l.Target, e.job.Depth+1, 0, string(v.Job.URL)) {
				woken[HostOf(l.Target)] = true
			}
		}
		if v.Fetch.Status < 300 {
			e.job.ETag, e.job.LastModified = v.Fetch.Header.Get("ETag"), v.Fetch.Header.Get("Last-Modified")
		}
	}
	e.visits = append(e.visits, v.Result.Fetch.Time)
	e.refused, e.job.Claimed, e.job.Withdrawn = false, false, false
	e.job.Visits++
	e.job.Last = v.Result.Fetch.Time
	e.job.Strikes, e.note = v.Strikes, v.Note
	e.job.Due, e.job.Interval = v.Next(changed)
	if e.job.Due.IsZero() {
		e.state = "done"
	}
	return woken
}

func (f *memFrontier) Refuse(ctx context.Context, r Refusal) error {
	f.linger()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.entries[r.Job.URL]
	if e == nil || e.state != "waiting" || r.Gone != (e.job.Visits > 0 && !e.job.Withdrawn) {
		f.wrong = append(f.wrong, fmt.Sprintf("%s is refused and was not due", r.Job.URL))
		return nil
	}
	e.state, e.note, e.refused, e.job.Claimed = "refused", r.Rule+": "+r.Why, true, false
	if r.Gone {
		e.index, e.content, e.job.Withdrawn = "gone", "", true
		e.job.Last, e.job.ETag, e.job.LastModified = r.At, "", ""
	}
	if !r.Again.IsZero() {
		e.state, e.job.Due = "waiting", r.Again
	}
	return f.fail("refuse")
}

// Room implements Frontier.
func (f *memFrontier) Room(context.Context, string) (int, error) { return -1, nil }

func (f *memFrontier) Known(_ context.Context, host string, after page.URL, n int) (list []Known, last page.URL, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var urls []page.URL
	for u, e := range f.entries {
		if HostOf(u) == host && u > after && e.state != "done" {
			urls = append(urls, u)
		}
	}
	slices.Sort(urls)
	for _, u := range urls[:min(n, len(urls))] {
		list = append(list, Known{f.entries[u].job, f.entries[u].refused})
		last = u
	}
	if len(urls) <= n {
		last = ""
	}
	return list, last, f.fail("known")
}

func (f *memFrontier) Readmit(_ context.Context, urls []page.URL, why string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, u := range urls {
		if e := f.entries[u]; e != nil && e.refused {
			e.state, e.refused, e.job.Due, e.note = "waiting", false, time.Now(), why
		}
	}
	return f.fail("readmit")
}

func (f *memFrontier) Add(_ context.Context, found Finding) (added Added, err error) {
	if err := f.fail("add"); err != nil {
		return added, err
	}
	f.mu.Lock()
	woken := make(map[string]bool)
	for _, x := range found.URLs {
		if f.offer(x.URL, found.Depth, 0, found.Source) {
			woken[HostOf(x.URL)] = true
			added.New++
		}
		if added.BroughtForward < found.BringForward && f.bringForward(x, found.Spacing) {
			woken[HostOf(x.URL)] = true
			added.BroughtForward++
		}
	}
	f.mu.Unlock()
	for h := range woken {
		f.wake(h)
	}
	return added, nil
}

func (f *memFrontier) bringForward(x Found, spacing time.Duration) bool {
	e := f.entries[x.URL]
	if e == nil || e.refused || e.job.Visits == 0 || e.job.Claimed || !x.Changed.After(e.job.Last) || x.Changed.After(time.Now()) {
		return false
	}
	due := e.job.Last.Add(spacing)
	if due.Before(time.Now()) {
		due = time.Now()
	}
	if e.state != "waiting" || !due.Before(e.job.Due) {
		return false
	}
	e.job.Due, e.job.Claimed, e.note = due, true, "brought forward"
	return true
}

func (f *memFrontier) LoadHost(_ context.Context, host string) ([]byte, error) {
	f.apart(host)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.states[host], f.fail("load")
}

func (f *memFrontier) SaveHost(_ context.Context, host string, state []byte) error {
	f.apart(host)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.fail("save"); err != nil {
		return err
	}
	f.states[host] = state
	return nil
}

// list is the entries in order of URL.
func (f *memFrontier) list() []*entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []*entry
	for _, e := range f.entries {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *entry) int { return cmp.Compare(a.job.URL, b.job.URL) })
	return all
}

// checkOutcomes checks that each URL is in the index as it should be, or "refused", and that nothing else
// was found. It empties want.
func (f *memFrontier) checkOutcomes(t *testing.T, want map[page.URL]string) {
	t.Helper()
	for _, e := range f.list() {
		if should := want[e.job.URL]; should == "refused" && !e.refused || should != "refused" && e.index != should {
			t.Errorf("%s is %s, in the index %q (%s); it should be %q", e.job.URL, e.state, e.index, e.note, should)
		}
		delete(want, e.job.URL)
	}
	for u, should := range want {
		if should != "" {
			t.Errorf("%s was not found; it should be %s", u, should)
		}
	}
}
