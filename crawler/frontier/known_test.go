package frontier_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

func (r *rig) entry(u page.URL) schema.FrontierEntry {
	r.t.Helper()
	tx, err := r.db.Begin(context.Background())
	if err != nil {
		r.t.Fatal(err)
	}
	defer tx.Rollback()
	e, known, err := frontier.ReadEntry(context.Background(), tx, u)
	if err != nil || !known {
		r.t.Fatalf("entry of %s: %v, %v", u, known, err)
	}
	return e
}

func (r *rig) outcome(u page.URL) page.Outcome {
	r.t.Helper()
	tx := r.db.At(r.db.LastTimestamp())
	defer tx.Rollback()
	_, outcome, err := observers.OutcomeOf(context.Background(), tx, u)
	if err != nil {
		r.t.Fatal(err)
	}
	return outcome
}

// known lists what Known gives, some at a time.
func (r *rig) known(host string, n int) (list []string) {
	r.t.Helper()
	for after := page.URL(""); ; {
		part, last, err := r.front.Known(context.Background(), host, after, n)
		if err != nil || len(part) > n {
			r.t.Fatalf("%d URLs, %v", len(part), err)
		}
		for _, k := range part {
			word := "waits"
			if k.Refused {
				word = "refused"
			}
			list = append(list, k.Job.URL.Path()+" "+word)
		}
		if last == "" {
			return list
		}
		after = last
	}
}

// TestKnown: Known lists all URLs of a host and of no other, in parts of any size;
// refused URLs leave the queue and readmitted ones return.
func TestKnown(t *testing.T) {
	ctx := context.Background()
	r := newRig(t)
	r.begin(frontier.Config{Scope: "any", MaxDepth: -1}, "https://a.example/")
	r.visit(r.due(host)[0], links("/b", "/c", "/d", "http://a.example/x", "https://a.example:8443/x", "https://a.example.org/x", "https://sub.a.example/x"))
	jobs := r.due(host)
	again := r.clock.Add(time.Hour)
	for i, j := range jobs { // b, c, d
		refusal := crawler.Refusal{Job: j, At: r.clock, Rule: crawler.RobotsRule, Why: "Disallow: /"}
		if i == 0 {
			refusal.Again = again
		}
		if i == 2 {
			continue
		}
		if err := r.front.Refuse(ctx, refusal); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"/ waits", "/b refused", "/c refused", "/d waits"}
	for _, n := range []int{1, 2, 3, 4, 5} {
		if got := r.known(host, n); !slices.Equal(got, want) {
			t.Errorf("%d at a time: %q", n, got)
		}
	}
	checkQueue(t, r)
	if got := urls(r.due(host)); got != "a.example/d@1" {
		t.Errorf("due: %s", got)
	}
	woken := r.woken[host]
	if err := r.front.Readmit(ctx, []page.URL{"https://a.example/", "https://a.example/b", "https://a.example/c", "https://a.example/none"}, "allowed"); err != nil {
		t.Fatal(err)
	}
	checkQueue(t, r)
	if got := urls(r.due(host)); got != "a.example/b@1 a.example/c@1 a.example/d@1" {
		t.Errorf("due: %s", got)
	}
	if r.woken[host] != woken+1 {
		t.Errorf("woken %d times", r.woken[host]-woken)
	}
}

// TestWithdrawnAndBack: a page that is withdrawn leaves the index once, and comes back
// by an unconditional fetch.
func TestWithdrawnAndBack(t *testing.T) {
	ctx := context.Background()
	r := newRig(t)
	const u = "https://a.example/"
	r.begin(perHost, u)
	r.visit(r.due(host)[0], links())
	known, _, err := r.front.Known(ctx, host, "", 10)
	if err != nil || len(known) != 1 || known[0].Job.Withdrawn {
		t.Fatalf("%+v, %v", known, err)
	}
	at := r.clock.Add(time.Millisecond)
	err = r.front.Refuse(ctx, crawler.Refusal{Job: known[0].Job, At: at, Rule: crawler.RobotsRule, Why: "x", Gone: true, Again: at.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	r.drain()
	if o := r.outcome(u); o != page.Gone {
		t.Errorf("withdrawn, its outcome is %s", o)
	}
	i, err := frontier.Inspect(ctx, r.db, u)
	if err != nil || i.State != "refused" || i.Next == nil || len(i.History) != 2 || i.History[1].Effect != "withdrawn" {
		t.Errorf("%+v, %v", i, err)
	}
	if err := r.front.Readmit(ctx, []page.URL{u}, "allowed again"); err != nil {
		t.Fatal(err)
	}
	r.clock = time.Now().Add(time.Second)
	jobs := r.due(host)
	if len(jobs) != 1 || !jobs[0].Withdrawn || jobs[0].ETag != "" {
		t.Fatalf("due again: %+v", jobs)
	}
	r.visit(jobs[0], links())
	if o, e := r.outcome(u), r.entry(u); o != page.Page || e.Withdrawn || e.IsRefused() {
		t.Errorf("back, its outcome is %s, its entry %+v", o, e)
	}
}

// TestBringForward: a sitemap's times make the permitted visits due, once.
func TestBringForward(t *testing.T) {
	ctx := context.Background()
	now := time.Now()
	for _, tt := range []struct {
		name    string
		last    time.Time
		changed time.Time
		allowed int
		want    time.Time // zero: not brought forward
	}{
		{"changed since", now.Add(-24 * time.Hour), now.Add(-time.Hour), 1, now},
		{"not since", now.Add(-24 * time.Hour), now.Add(-25 * time.Hour), 1, time.Time{}},
		{"at that time", now.Add(-24 * time.Hour), now.Add(-24 * time.Hour), 1, time.Time{}},
		{"not said", now.Add(-24 * time.Hour), time.Time{}, 1, time.Time{}},
		{"in the future", now.Add(-24 * time.Hour), now.Add(time.Hour), 1, time.Time{}},
		{"a fast clock", now.Add(-24 * time.Hour), now.Add(time.Minute), 1, now},
		{"not believed", now.Add(-24 * time.Hour), now.Add(-time.Hour), 0, time.Time{}},
		{"visited just now", now.Add(-10 * time.Minute), now.Add(-time.Minute), 1, now.Add(50 * time.Minute)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.begin(perHost, "https://a.example/")
			j := r.due(host)[0]
			r.clock = tt.last
			due := tt.last.Add(1000 * time.Hour)
			f := page.Fetch{URL: j.URL, Time: tt.last, Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(links())}
			v := crawler.Visit{Job: j, Fetch: f, Next: func(bool) (time.Time, time.Duration) { return due, time.Hour }}
			v.Result.Fetch = f
			if err := r.front.Visited(ctx, v); err != nil {
				t.Fatal(err)
			}
			finding := crawler.Finding{
				URLs:   []crawler.Found{{URL: j.URL, Changed: tt.changed}, {URL: "https://a.example/new", Changed: tt.changed}},
				Source: "sitemap", Depth: 1, BringForward: tt.allowed, Spacing: time.Hour,
			}
			want := crawler.Added{New: 1}
			if !tt.want.IsZero() {
				want.BroughtForward = 1
			}
			if got, err := r.front.Add(ctx, finding); err != nil || got != want {
				t.Errorf("%+v, %v; want %+v", got, err, want)
			}
			if got, err := r.front.Add(ctx, finding); err != nil || got != (crawler.Added{}) {
				t.Errorf("a second time: %+v, %v", got, err)
			}
			e := r.entry(j.URL)
			if forward := e.Due.Before(due.Add(-time.Second)); forward == tt.want.IsZero() || forward && e.Due.Sub(tt.want).Abs() > 10*time.Second {
				t.Errorf("due in %v", e.Due.Sub(now))
			}
			checkQueue(t, r)
		})
	}
}

// TestRanksOrderTheQueue: new URLs are ordered by depth and rank, and move only when
// the rank has changed and another page links to them.
func TestRanksOrderTheQueue(t *testing.T) {
	r := newRig(t)
	ranks := map[string]float64{"/plain": 0.15, "/good": 0.15 * 20, "/better": 0.15 * 5000}
	reads := 0
	r.crawl.Ranks = func(_ context.Context, _ *txn.Txn, u page.URL) (float64, error) {
		reads++
		return max(ranks[u.Path()], 0.15), nil
	}
	r.begin(frontier.Config{Scope: "host", MaxDepth: -1}, "https://a.example/")
	r.visit(r.due(host)[0], links("/1"))
	r.visit(r.due(host)[0], links("/2"))
	r.visit(r.due(host)[0], links("/3"))
	r.visit(r.due(host)[0], links("/plain", "/good", "/better", "/late"))
	if got, want := urls(r.due(host)), "a.example/better@4 a.example/good@4 a.example/late@4 a.example/plain@4"; got != want {
		t.Fatalf("%s\nwant %s", got, want)
	}
	if reads > 10 {
		t.Errorf("%d ranks were read", reads)
	}
	ranks["/late"], ranks["/good"] = 0.15*1e9, 0.15*4.1
	if got := r.due(host)[0].URL.Path(); got != "/better" {
		t.Errorf("%s is first before anybody looked", got)
	}
	r.visit(r.due(host)[0], links("/late", "/good"))
	if got, want := urls(r.due(host)), "a.example/late@4 a.example/good@4 a.example/plain@4"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for path, want := range map[string]int{"/late": schema.MaxWeight, "/good": 2, "/plain": 0} { // good is worth 1 by now
		if e := r.entry(page.URL(host + path)); e.Weight != want {
			t.Errorf("%s weighs %d, want %d", path, e.Weight, want)
		}
	}
	checkQueue(t, r)
}

// TestHistory: what an entry remembers of its visits.
func TestHistory(t *testing.T) {
	ctx := context.Background()
	r := newRig(t)
	const u = "https://a.example/"
	r.begin(perHost, u)
	fetches := []page.Fetch{
		{Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(links("/x"))},
		{Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(links("/x"))},
		{Status: 304, Revisit: true},
		{Err: "timeout: no answer"},
		{Status: 503},
		{Status: 410},
	}
	start := r.clock
	for i, f := range fetches {
		r.clock = start.Add(time.Duration(i) * 3 * time.Hour)
		f.URL, f.Time = u, r.clock
		for _, j := range r.due(host) {
			if j.URL != u {
				continue
			}
			v := crawler.Visit{Job: j, Fetch: f, Next: func(bool) (time.Time, time.Duration) { return f.Time.Add(time.Hour), time.Hour }}
			v.Result.Fetch, v.Result.HeaderBlock, v.Result.Payload = f, make([]byte, 100), f.Body
			v.Result.Timings.Total = 1500 * time.Millisecond
			if err := r.front.Visited(ctx, v); err != nil {
				t.Fatal(err)
			}
			r.drain()
		}
	}
	i, err := frontier.Inspect(ctx, r.db, u)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range i.History {
		got = append(got, fmt.Sprintf("%v %d %s %d %d", v.Time.Sub(start), v.Status, v.Effect, v.Bytes, v.Milliseconds))
	}
	n := 100 + len(fetches[0].Body)
	want := []string{
		fmt.Sprintf("0s 200 changed %d 1500", n), fmt.Sprintf("3h0m0s 200 unchanged %d 1500", n), "6h0m0s 304 not modified 100 1500",
		"9h0m0s 0 failed 100 1500", "12h0m0s 503 failed 100 1500", "15h0m0s 410 changed 100 1500",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
