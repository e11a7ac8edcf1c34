package frontier_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// TestDiscoveryInParts: the links of a page with very many links are offered in parts,
// completely, even if the page changes or the crawl gets other limits in between.
func TestDiscoveryInParts(t *testing.T) {
	many := func(prefix string) string {
		var list []string
		for i := range 9 {
			list = append(list, fmt.Sprintf("/%s%d", prefix, i))
		}
		return links(list...)
	}
	ctx := t.Context()
	for steps := range 12 {
		r := newRigOf(t, schema.PartSize{Entries: 2, Bytes: 1000})
		r.begin(frontier.Config{Scope: "page", MaxDepth: 2}, "https://a.example/")
		job := r.due(host)[0]
		early := func(html string) {
			t.Helper()
			f := page.Fetch{URL: job.URL, Time: r.clock, Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: []byte(html)}
			if _, err := loader.New(r.db, admitAll{}, func(string) {}).Load(ctx, &f); err != nil {
				t.Fatal(err)
			}
			for range 5 * steps {
				if _, err := r.stepper.Step(ctx, nil); err != nil {
					t.Fatal(err)
				}
			}
			r.clock = r.clock.Add(time.Second)
		}
		early(many("old"))
		early(many("new"))
		r.begin(perHost, "https://a.example/")
		found := make(map[page.URL]bool)
		for _, j := range r.due(host) {
			found[j.URL] = true
		}
		for i := range 9 {
			if u := page.URL(fmt.Sprintf("https://a.example/new%d", i)); !found[u] {
				t.Errorf("after %d steps: %s was not offered", steps, u)
			}
		}
		tx, err := r.db.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := tx.Get(ctx, schema.URLRow(job.URL), schema.Discovery); err != nil || v.Exists {
			t.Errorf("after %d steps: a discovery is left: %v", steps, err)
		}
		tx.Rollback()
	}
}

// TestPrefetch: what the HTML of a page names is fetched before it is rendered, unless the page
// need not be rendered or rendering is off. A link makes a resource a page of the crawl.
func TestPrefetch(t *testing.T) {
	const shell = `<title>x</title><div id=root></div><script src=https://cdn.example/app.js></script><script src=/secret.js></script><img src=/a/a/a/a/a/a/trap.png>`
	for _, setting := range []schema.RenderSetting{schema.RenderOff, schema.RenderAuto} {
		r := newRig(t)
		if _, err := r.db.Run(t.Context(), func(tx *txn.Txn) error {
			setting.Write(tx)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		config := perHost
		config.Exclude = []string{"secret"}
		r.begin(config, "https://a.example/")
		r.visit(r.due(host)[0], shell)
		r.drain()
		want := ""
		if setting == schema.RenderAuto {
			want = "cdn.example/app.js@1"
		}
		jobs := r.due("https://cdn.example")
		if got := urls(jobs); got != want {
			t.Errorf("%q: due are %q, want %q", setting, got, want)
		}
		if got := urls(r.due(host)); got != "" {
			t.Errorf("%q: due are %q, which --exclude and trap rules leave out", setting, got)
		}
		if len(jobs) > 0 && !jobs[0].Resource {
			t.Errorf("%+v is no resource", jobs[0])
		}
	}
}

// TestPromotedResource: a link that the rules take makes a resource a page, whose links are
// followed from then on. So does a seed.
func TestPromotedResource(t *testing.T) {
	for want, promote := range map[string]func(r *rig){
		"a.example/from-resource@1": func(r *rig) { r.begin(perHost, "https://a.example/", "https://a.example/both") },
		"a.example/from-resource@2": func(r *rig) {
			r.clock = r.clock.Add(2 * time.Hour)
			for _, j := range r.due(host) {
				if j.URL == "https://a.example/" {
					r.visit(j, links("/both"))
				}
			}
			r.drain()
		},
	} {
		r := newRig(t)
		if _, err := r.db.Run(t.Context(), func(tx *txn.Txn) error {
			schema.RenderAuto.Write(tx)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		r.begin(perHost, "https://a.example/")
		r.visit(r.due(host)[0], `<title>x</title><div id=root></div><script src=/both></script>`)
		r.drain()
		resource := r.due(host)
		if urls(resource) != "a.example/both@1" || !resource[0].Resource {
			t.Fatalf("due are %+v", resource)
		}
		r.visit(resource[0], links("/from-resource"))
		r.drain()
		if got := urls(r.due(host)); got != "" {
			t.Errorf("the links of a resource are followed: %s", got)
		}
		promote(r)
		if got := urls(r.due(host)); !strings.Contains(got, want) {
			t.Errorf("the resource has become a page; due are %s, want %s", got, want)
		}
	}
}

// TestRobotsTxtWithAQuery: the links of a page whose URL is that of robots.txt with a query
// are followed. Links of robots.txt are not.
func TestRobotsTxtWithAQuery(t *testing.T) {
	for seed, want := range map[page.URL]string{"https://a.example/robots.txt": "", "https://a.example/robots.txt?v=1": "a.example/x@1"} {
		r := newRig(t)
		r.begin(perHost, seed)
		r.visit(r.due(host)[0], links("/x"))
		r.drain()
		if got := urls(r.due(host)); got != want {
			t.Errorf("%s: due: %q, want %q", seed, got, want)
		}
	}
}
