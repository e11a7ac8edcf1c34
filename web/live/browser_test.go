package live_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/web/browsertest"
	"github.com/webindexer/indexer/web/live"
)

// frontierWithReasons has hosts that wait for different reasons.
func frontierWithReasons() *live.Frontier {
	return &live.Frontier{New: 1204, Revisits: 88, HostsTotal: 3, Running: true, PerSecond: 3.2, Pages: 5120, Hosts: []live.Host{
		{Host: "lighthouse.example", New: 900, Revisits: 80, Why: "politeness: 1 s between two requests, for 400ms"},
		{Host: "slow.example", New: 300, Revisits: 8, Why: "backing off until 2026-01-01 12:00:00: 503 Service Unavailable"},
		{Host: "quiet.example", New: 4, Why: "waiting for a slot"},
	}}
}

// The page receives and shows events: the graph has points, and the figures include pages
// that were loaded after it was opened. INDEXER_SCREENSHOTS names a directory for
// screenshots.
func TestStatusInABrowser(t *testing.T) {
	b := browsertest.Open(t)
	r := openRepository(t)
	_, server := watch(t, watched{r, frontierWithReasons()}, live.Options{})
	load(t, r, 0, 3)
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Look(browsertest.Looks[0])
	b.Visit(server.URL + "/status")
	b.Run(chromedp.WaitVisible("[data-updates]", chromedp.ByQuery))
	b.Until(`document.querySelector('[data-text="o/document/rows"]').textContent === "3"`)
	for i := range 8 {
		load(t, r, 3+i*30, 3+(i+1)*30)
		if err := r.Quiesce(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.Until(fmt.Sprintf(`Number(document.querySelector("[data-graph]").dataset.points) > %d`, i+1))
	}
	b.Until(`document.querySelector('[data-text="o/document/rows"]').textContent === "243"`)
	b.Until(`document.querySelectorAll(".canvas .p50").length > 0`)
	var hosts string
	b.Run(chromedp.Text(`[data-hosts]`, &hosts, chromedp.ByQuery))
	if !strings.Contains(hosts, "lighthouse.example") {
		t.Errorf("the hosts shown are %q", hosts)
	}
	shortLabels(t, b)
	for _, look := range browsertest.Looks {
		b.Look(look)
		b.Fits("status-moving-"+look.String(), look)
		b.Picture("status-moving-" + look.String())
	}
	b.Quiet(server.URL)
}

// shortLabels checks that the labels fit next to the graph.
func shortLabels(t *testing.T, b *browsertest.Tab) {
	t.Helper()
	var labels []string
	b.Eval(`Array.from(document.querySelectorAll(".canvas text:not(.none)"), e => e.textContent)`, &labels)
	if len(labels) < 4 {
		t.Errorf("the graph has the labels %q", labels)
	}
	for _, l := range labels {
		if len([]rune(l)) > 8 {
			t.Errorf("the graph has the label %q", l)
		}
	}
}

// TestEmptyGraph: the text of a graph without pages fits into it, however narrow the window is.
func TestEmptyGraph(t *testing.T) {
	b := browsertest.Open(t)
	_, server := watch(t, broken{notify.ErrStopped}, live.Options{})
	for _, width := range []int64{1280, 360, 320} {
		b.Look(browsertest.Look{Width: width, Height: 780, Scheme: "light"})
		b.Visit(server.URL + "/status")
		b.Until(`document.querySelector(".canvas .none") !== null`)
		var outside float64
		b.Eval(`(() => {
			const text = document.querySelector(".canvas .none").getBBox(), rule = document.querySelector(".canvas .rule").getBBox();
			return Math.max(0, rule.x - text.x, text.x + text.width - rule.x - rule.width);
		})()`, &outside)
		if outside > 0 {
			t.Errorf("at %d pixels, %.0f pixels of the text are outside the graph", width, outside)
		}
	}
}

// slowPages is a pipeline in which pages take minutes.
type slowPages struct{ broken }

func (slowPages) FoundSince(time.Time) observers.Latency {
	return observers.Latency{N: 7, P50: 17 * time.Second, P95: 40 * time.Minute, P99: time.Hour}
}

// axe-core finds no violation on the page, before and while figures change: with dead
// letters, with a stopped pipeline, with and without a crawl.
func TestStatusAccessibility(t *testing.T) {
	b := browsertest.Open(t)
	axe := b.Axe(t)
	r := openRepository(t)
	load(t, r, 0, 30)
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]live.Source{
		"status":          watched{r, frontierWithReasons()},
		"status-no-crawl": watched{r, nil},
		"status-stopped":  broken{notify.ErrStopped},
		"status-slow":     slowPages{},
	} {
		_, server := watch(t, source, live.Options{Notes: func() []string { return []string{"Another process has the data directory."} }})
		for _, look := range browsertest.Looks {
			label := name + "-" + look.String()
			b.Look(look)
			b.Visit(server.URL + "/status")
			b.Until(`!document.querySelector("[data-graph]").hidden`)
			shortLabels(t, b)
			b.Fits(label, look)
			axe.Judge(label)
			b.Picture(label)
		}
	}
}

// TestDocumentPicture takes the picture of the status page in the README: fifty seconds of
// loading at a rate that varies.
func TestDocumentPicture(t *testing.T) {
	dir := browsertest.DocumentPictures(t)
	b := browsertest.Open(t)
	r := openRepository(t)
	_, server := watch(t, watched{r, frontierWithReasons()}, live.Options{})
	b.Look(browsertest.Look{Width: 1000, Height: 900, Scheme: "light"})
	b.Visit(server.URL + "/status")
	b.Run(chromedp.WaitVisible("[data-updates]", chromedp.ByQuery))
	loaded := 0
	for i := range 50 {
		n := 60 + int(40*math.Sin(float64(i)/4)) + i*7%13
		load(t, r, loaded, loaded+n)
		loaded += n
		b.Until(fmt.Sprintf(`Number(document.querySelector("[data-graph]").dataset.points) > %d`, i+1))
	}
	b.DocumentPicture(dir, "status")
}
