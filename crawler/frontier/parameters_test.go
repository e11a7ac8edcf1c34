package frontier_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// show visits a URL whose page says this, unless the URL is left out.
func (r *rig) show(u page.URL, says string) {
	r.t.Helper()
	added, err := r.front.Add(context.Background(), crawler.Finding{URLs: []crawler.Found{{URL: u}}, Depth: 1, Source: "test"})
	if err != nil {
		r.t.Fatal(err)
	}
	if added.New == 0 {
		return
	}
	r.visit(crawler.Job{URL: u}, fmt.Sprintf("<title>%s</title><p>This is the page about %s and it is long enough to be told from others by its text.", says, says))
}

func (r *rig) ignored() string {
	r.t.Helper()
	list, err := frontier.HostQueues(context.Background(), r.db)
	if err != nil {
		r.t.Fatal(err)
	}
	var names []string
	for _, h := range list {
		names = append(names, h.Ignored...)
	}
	return strings.Join(names, " ")
}

// TestParameters: which parameters are ignored after some pages. A line is a pattern of
// URLs, the number of values of i and j in it, and the page's content.
func TestParameters(t *testing.T) {
	for _, c := range []struct {
		name, pattern, says string
		i, j                int
		want                string
	}{
		{"a session id", "/p%[1]d?sid2=%[2]d", "page %[1]d", 4, 5, "sid2"},
		{"a session id and a number", "/p?n=%[1]d&z=%[2]d", "number %[1]d", 4, 5, "z"},
		{"a parameter without a value", "/p%[1]d?%[2]dx", "page %[1]d", 4, 5, ""},
		{"too few", "/p%[1]d?z=%[2]d", "page %[1]d", 3, 4, ""},
		{"pages of a list", "/list%[1]d?page=%[2]d", "list %[1]d page %[2]d", 4, 6, ""},
		{"one error page for all", "/p%[1]d?z=%[2]d", "nothing", 5, 6, ""},
		{"one page with very many URLs", "/p?z=%[2]d", "nothing", 1, 40, "z"},
		{"half of them", "/p%[1]d?z=%[2]d", "page %[1]d", 2, 16, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := testenv.Random(t)
			type one struct {
				url  page.URL
				says string
			}
			var all []one
			for i := range c.i {
				for j := range c.j {
					u := fmt.Sprintf(host+c.pattern, i, j)
					u, _, _ = strings.Cut(u, "%!(EXTRA")
					says, _, _ := strings.Cut(fmt.Sprintf(c.says, i, j), "%!(EXTRA")
					all = append(all, one{page.MustParseURL(u), says})
				}
			}
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			r := newRig(t)
			r.begin(frontier.Config{Scope: "host", MaxDepth: -1}, host+"/")
			for _, x := range all {
				r.show(x.url, x.says)
			}
			if got := r.ignored(); got != c.want {
				t.Errorf("ignored are %q, want %q", got, c.want)
			}
		})
	}
}

// TestVariants: once a parameter is ignored, one URL of each page is fetched, queued
// variants leave the queue, and all come back when the parameter makes a difference.
func TestVariants(t *testing.T) {
	r := newRig(t)
	r.begin(frontier.Config{Scope: "host", MaxDepth: -1}, host+"/")
	jobs := r.due(host)
	var hrefs []string
	for i := range 400 {
		hrefs = append(hrefs, fmt.Sprintf("/late?z=%d", i))
	}
	r.visit(jobs[0], links(hrefs...))
	for i := range 5 {
		for j := range 4 {
			r.show(page.MustParseURL(fmt.Sprintf(host+"/p%d?z=%d", i, j)), fmt.Sprintf("page %d", i))
		}
	}
	if got := r.ignored(); got != "z" {
		t.Fatalf("ignored are %q, want z", got)
	}
	left := r.fresh()
	if len(left) == 0 || len(left) > 5 || !strings.HasPrefix(string(left[0].URL), host+"/late?z=") {
		t.Fatalf("%d variants wait: %s", len(left), urls(left))
	}
	i, err := frontier.Inspect(context.Background(), r.db, otherThan(left, host+"/late?z=%d"))
	if err != nil {
		t.Fatal(err)
	}
	if i.State != "refused" || i.Rule != frontier.ParameterRule || !strings.Contains(i.Why, "in z only") {
		t.Errorf("inspect says %+v", i)
	}
	// The first and another one that comes by a redirect say different things.
	r.visit(left[0], "<title>A</title>")
	r.show(page.MustParseURL(host+"/from"), "whatever")
	moved := page.Fetch{URL: host + "/from", Time: r.clock.Add(1), Status: 301, Header: map[string][]string{"Location": {host + "/late?z=new"}}}
	r.visited(crawler.Job{URL: host + "/from"}, moved)
	var found bool
	for _, j := range r.fresh() {
		if j.URL == host+"/late?z=new" {
			found = true
			r.visit(j, "<title>B</title>")
		}
	}
	if !found {
		t.Fatal("the target of a redirect was left out")
	}
	if got := r.ignored(); got != "" {
		t.Errorf("ignored are %q after a contradiction", got)
	}
	if n := len(r.fresh()); n != 400-len(left) && n != 399 {
		t.Errorf("%d variants wait, want all that were left out", n)
	}
}

// fresh lists all jobs that were never visited.
func (r *rig) fresh() []crawler.Job {
	r.t.Helper()
	jobs, _, err := r.front.Due(context.Background(), host, r.clock, 10_000)
	if err != nil {
		r.t.Fatal(err)
	}
	return slices.DeleteFunc(jobs, func(j crawler.Job) bool { return j.Visits > 0 })
}

func otherThan(jobs []crawler.Job, pattern string) page.URL {
	for i := 0; ; i++ {
		u := page.MustParseURL(fmt.Sprintf(pattern, i))
		if !slices.ContainsFunc(jobs, func(j crawler.Job) bool { return j.URL == u }) {
			return u
		}
	}
}

// TestLapsedURLs: a URL that was queued, and was then left out because of its parameter, is
// fetched once it is a seed, or the target of a redirect.
func TestLapsedURLs(t *testing.T) {
	settings := frontier.Config{Scope: "host", MaxDepth: -1}
	for _, c := range []struct {
		name string
		lead func(r *rig, to page.URL)
	}{
		{"a seed", func(r *rig, to page.URL) { r.begin(settings, to) }},
		{"the target of a redirect", func(r *rig, to page.URL) {
			r.show(host+"/from", "whatever")
			r.visited(crawler.Job{URL: host + "/from"}, page.Fetch{
				URL: host + "/from", Time: r.clock.Add(1), Status: 301, Header: map[string][]string{"Location": {string(to)}},
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.begin(settings, host+"/")
			r.visit(r.due(host)[0], links("/late?z=0", "/late?z=1"))
			for i := range 20 {
				r.show(page.MustParseURL(fmt.Sprintf(host+"/p%d?z=%d", i/4, i)), fmt.Sprintf("page %d", i/4))
			}
			left := r.fresh()
			if len(left) != 1 {
				t.Fatalf("%d variants wait: %s", len(left), urls(left))
			}
			lapsed := otherThan(left, host+"/late?z=%d")
			c.lead(r, lapsed)
			if !slices.ContainsFunc(r.fresh(), func(j crawler.Job) bool { return j.URL == lapsed }) {
				t.Errorf("%s is left out; %s wait", lapsed, urls(r.fresh()))
			}
		})
	}
}
