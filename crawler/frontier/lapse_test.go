package frontier_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/page"
)

// TestNarrowerSettings: URLs that wait leave the queue if the settings no longer take them, and
// come back with wider settings. Known pages are visited again.
func TestNarrowerSettings(t *testing.T) {
	r := newRig(t)
	wide := frontier.Config{Scope: "any", MaxDepth: -1}
	r.begin(wide, host+"/")
	hrefs := []string{"/open", "/known-secret", "https://b.example/"}
	for i := range 600 { // more than one transaction reads
		hrefs = append(hrefs, fmt.Sprintf("/secret%d", i))
	}
	r.visit(r.due(host)[0], links(hrefs...))
	r.visit(crawler.Job{URL: host + "/known-secret"}, links())
	if n := len(r.fresh()); n != 601 {
		t.Fatalf("%d URLs wait", n)
	}
	excluded := wide
	excluded.Exclude = []string{"secret"}
	r.begin(excluded, host+"/")
	i, err := frontier.Inspect(t.Context(), r.db, host+"/secret5")
	if err != nil || i.State != "waiting" || i.NotFetched != `scope.exclude: it matches the exclude pattern "secret"` {
		t.Errorf("inspect says %+v, %v", i, err)
	}
	if got := urls(r.fresh()); got != "a.example/open@1" {
		t.Errorf("with --exclude, %s wait", got)
	}
	i, err = frontier.Inspect(t.Context(), r.db, host+"/secret5")
	if err != nil || i.State != "refused" || i.Rule != "scope.exclude" || !strings.Contains(i.NotFetched, `"secret"`) {
		t.Errorf("inspect says %+v, %v", i, err)
	}
	r.clock = r.clock.Add(48 * time.Hour)
	if jobs := r.due(host); !slices.ContainsFunc(jobs, func(j crawler.Job) bool { return j.URL == host+"/known-secret" }) {
		t.Errorf("due are %s, without the known page", urls(jobs))
	}
	hosts := frontier.Config{Scope: "host", MaxDepth: 0}
	r.begin(hosts, host+"/")
	if got := urls(r.fresh()) + urls(r.due("https://b.example")); got != "" {
		t.Errorf("with the scope host and the depth 0, %s wait", got)
	}
	r.begin(wide, host+"/")
	if n := len(r.fresh()); n != 601 {
		t.Errorf("%d URLs wait, of 601 before", n)
	}
	if got := urls(r.due("https://b.example")); got != "b.example/@1" {
		t.Errorf("of the other host, %s wait", got)
	}
}

// TestLapsedComesNearer: a URL that is too deep for new settings is fetched once a page that is
// nearer to the seed links to it.
func TestLapsedComesNearer(t *testing.T) {
	r := newRig(t)
	settings := frontier.Config{Scope: "host", MaxDepth: -1}
	r.begin(settings, host+"/")
	r.visit(r.due(host)[0], links("/1"))
	r.visit(r.fresh()[0], links("/deep"))
	settings.MaxDepth = 1
	r.begin(settings, host+"/")
	if got := urls(r.fresh()); got != "" {
		t.Fatalf("%s wait", got)
	}
	r.clock = r.clock.Add(48 * time.Hour)
	r.visit(crawler.Job{URL: page.MustParseURL(host + "/")}, links("/1", "/deep"))
	if got := urls(r.fresh()); got != "a.example/deep@1" {
		t.Errorf("%s wait", got)
	}
}
