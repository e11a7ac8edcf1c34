package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/web/remote"
)

// A server that runs next to a crawl shows the crawl's pipeline: its runs, how fast pages
// became searchable, its frontier, and the same in metrics. When the crawl has ended, the
// server takes its place.
func TestStatusBeside(t *testing.T) {
	site := tideSite(t)
	data := filepath.Join(t.TempDir(), "data")
	holder := startServe(t, "--data", data, "--log-level", "error", "serve", "--crawl", site, "--allow-private", "--delay", "0s")
	until(t, func() bool { return strings.Contains(holder.get("/api/query?q=tide"), "The tide table") })
	beside := startServe(t, "--data", data)
	page := beside.get("/status")
	for _, part := range []string{"running", `<b data-text="o/document/backlog">0</b>`, `<dd data-text="fresh/total">1</dd>`, "Hosts with the most URLs waiting", "Another process has the data directory"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page does not have %q:\n%s", part, page)
		}
	}
	if strings.Contains(page, `data-text="fresh/p50">–`) || strings.Contains(page, `data-text="space/store">…`) {
		t.Errorf("how fast it is, or its size, is not told:\n%s", page)
	}
	rows := func(s *served) string {
		_, after, _ := strings.Cut(s.get("/metrics"), `indexer_observer_rows_total{observer="document"} `)
		n, _, _ := strings.Cut(after, "\n")
		return n
	}
	until(t, func() bool { // the crawl has nothing left to do
		n := rows(holder)
		return n != "0" && n == rows(beside)
	})
	metrics := beside.get("/metrics")
	for _, line := range []string{"indexer_pipeline_running 1", "indexer_fetch_to_searchable_seconds_count 1", "indexer_status_readable 1", "indexer_frontier_hosts"} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics do not have %s:\n%s", line, metrics)
		}
	}
	holder.stop()
	until(t, beside.isHere)
	if metrics := beside.get("/metrics"); !strings.Contains(metrics, "indexer_pipeline_running 1") {
		t.Errorf("without the other process:\n%s", metrics)
	}
	until(t, func() bool { // what the page says is up to a second old
		page := beside.get("/status")
		if strings.Contains(page, `data-state="bad"`) {
			t.Fatalf("without the other process:\n%s", page)
		}
		return strings.Contains(page, `data-state="good"`) && !strings.Contains(page, "Another process")
	})
	if got := beside.get("/readyz"); got != "ready\n" {
		t.Errorf("without the other process: %q", got)
	}
	if body := beside.get("/?q=tide"); !strings.Contains(body, url.QueryEscape(site)) {
		t.Errorf("nothing is found any more:\n%s", body)
	}
	beside.stop()
}

// The server shows the pipeline of another process as that process would, with each
// searchable page once; if it is paused or gone, the server says so.
func TestPipelineOfAnotherProcess(t *testing.T) {
	data := lighthouseData(t)
	newAt := func() *app {
		a := newApp(strings.NewReader(""), io.Discard, io.Discard)
		a.cfg.Data = data
		return a
	}
	s, err := newAt().open(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	source := remote.NewPipeline(t.Context(), newAt().askRemote("live"))
	for n := range 3 {
		f := &page.Fetch{
			URL: page.MustParseURL(fmt.Sprintf("https://new.example/%d", n)), Time: time.Now(), Status: http.StatusOK,
			Header: http.Header{"Content-Type": {"text/html"}}, Body: fmt.Appendf(nil, "<title>New</title><p>The text of page number %d.", n),
		}
		if _, err := s.repo.Load(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		if err := s.repo.Quiesce(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			told, is := source.Sample(), s.repo.Sample()
			if told.Found != is.Found || told.Waiting != is.Waiting || len(told.Observers) != len(is.Observers) || told.NotReady != nil {
				t.Errorf("told %+v\nwant %+v", told, is)
			}
		}
		if got, want := source.FoundSince(time.Time{}), s.repo.FoundSince(time.Time{}); got != want || got.N != int64(n+1) {
			t.Errorf("found %+v, want %+v", got, want)
		}
	}
	space, err := source.Space()
	if err != nil || space.Store == 0 {
		t.Errorf("%+v, %v", space, err)
	}
	if dead, err := source.DeadCount(t.Context()); err != nil || len(dead) != 0 {
		t.Errorf("dead letters %v, %v", dead, err)
	}
	if f, err := source.Frontier(t.Context(), 1); err != nil || f != nil {
		t.Errorf("a frontier %+v, %v, and there is no crawl", f, err)
	}
	if err := s.close(t.Context()); err != nil {
		t.Fatal(err)
	}
	told := source.Sample()
	if !errors.Is(told.NotReady, remote.ErrNotTold) || told.Found.N() != 3 || time.Since(told.Time) > time.Minute {
		t.Errorf("of a process that is gone it is told %+v", told)
	}
	if _, err := source.Space(); !errors.Is(err, remote.ErrNotTold) {
		t.Errorf("space: %v", err)
	}
}
