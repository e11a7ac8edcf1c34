package frontier_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/loader"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
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
			if _, err := loader.New(r.db, anyone{}, func(string) {}).Load(ctx, &f); err != nil {
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
