package crawlbench

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/bench/measure"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
)

// TestSite checks what the benchmark relies on: the same bytes for every request,
// pages of about the requested size with the requested number of links, and all pages
// within reach.
func TestSite(t *testing.T) {
	s := newSite(200, 20, 4, 8<<10)
	reached := map[string]bool{"/p/0": true}
	for todo := []string{"/p/0"}; len(todo) > 0; todo = todo[1:] {
		body := get(t, s, todo[0])
		if !bytes.Equal(body, get(t, s, todo[0])) {
			t.Errorf("%s changes between requests", todo[0])
		}
		if n := len(body); n < 7<<10 || n > 9<<10 {
			t.Errorf("%s has %d bytes", todo[0], n)
		}
		links := strings.Split(string(body), `<a href="`)[1:]
		if len(links) != 20 {
			t.Errorf("%s has %d links", todo[0], len(links))
		}
		for _, l := range links {
			if path, _, _ := strings.Cut(l, `"`); !reached[path] {
				reached[path] = true
				todo = append(todo, path)
			}
		}
	}
	if len(reached) != s.pages {
		t.Errorf("%d of %d pages can be reached", len(reached), s.pages)
	}
	if w := ask(s, "/p/"+strconv.Itoa(s.pages)); w.Code != http.StatusNotFound {
		t.Errorf("the page after the last one: status %d", w.Code)
	}
}

func get(t *testing.T, s *site, path string) []byte {
	t.Helper()
	w := ask(s, path)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: status %d", path, w.Code)
	}
	return w.Body.Bytes()
}

func ask(s *site, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

// TestCrawl runs the comparison on a small site; each side checks that it saw all
// of it. Each page that our crawler loads must be indexed separately.
func TestCrawl(t *testing.T) {
	var log bytes.Buffer
	res, err := Run(t.Context(), Options{Pages: 40, Concurrency: 8, Repo: repository.Options{Workers: 2}, Rounds: 2, Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Colly) != 2 || len(res.Ours) != 2 || len(res.Loaded) != 2 || res.Ratio <= 0 || res.Heap.Live == 0 {
		t.Errorf("result is not complete: %+v", res)
	}
	rows := make(map[string]int64)
	for _, s := range res.Stages {
		rows[s.Name] = s.Rows
	}
	// The fetcher and the document observer also see robots.txt.
	for stage, least := range map[string]int64{"fetch": 40, "load": 40, "queue": 40, "document": 40, "index": 40, "discover": 40} {
		if rows[stage] < least {
			t.Errorf("%s had %d rows, not the site's 40", stage, rows[stage])
		}
	}
	if len(res.Sides) != 8 || res.SyncRatio <= 0 || res.PlainRatio <= 0 || res.ReplayCPU <= 0 || res.ArchivedCPU <= 0 {
		t.Errorf("sides: %+v", res.Sides)
	}
	for _, s := range res.Sides {
		if len(s.Seconds) != 2 || s.Rate <= 0 || s.CPU <= 0 || (s.Server <= 0) != s.offline {
			t.Errorf("side %+v is not complete", s)
		}
	}
	if n := strings.Count(log.String(), "\n"); n != 2 {
		t.Errorf("%d lines for 2 rounds:\n%s", n, &log)
	}
}

// TestCrawlMisses: a site that does not lead to all of its pages ends the benchmark.
func TestCrawlMisses(t *testing.T) {
	s := newSite(5, 0, 0, 500)
	_, err := s.crawled(t.Context(), &Side{Name: "colly", crawl: func(seed string) (*measure.Run, error) { return collyCrawl(t.Context(), seed, 2, nil) }})
	if err == nil || !strings.Contains(err.Error(), "fetched 1 of the site's 5 pages") {
		t.Errorf("error %v", err)
	}
}

func TestCrawlMemory(t *testing.T) {
	res, err := Memory(t.Context(), Options{Pages: 50, Concurrency: 8, Repo: repository.Options{Workers: 2}, Log: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(res.Steps); n == 0 || res.Steps[n-1].Pages != 50 || res.Steps[n-1].Live == 0 {
		t.Errorf("steps %+v", res.Steps)
	}
}

// TestEnd: rates are those of the median round, and ratios those of rates or of processor time.
func TestEnd(t *testing.T) {
	seconds := map[string][]float64{"colly": {1, 4, 2}, "colly-sync": {8}, "colly-plain": {16}, "indexer": {9, 4, 5}, "archived": {6}, "replay": {2}}
	cpu := map[string][]float64{"indexer": {3, 1, 2}, "archived": {4}, "replay": {1}}
	var sides []*Side
	for name := range seconds {
		sides = append(sides, &Side{Name: name, Seconds: seconds[name], cpu: cpu[name]})
	}
	res := &Result{Pages: 100}
	res.end(sides)
	got := []float64{res.CollyRate, res.OurRate, res.Ratio, res.SyncRatio, res.PlainRatio, res.ReplayCPU, res.ArchivedCPU}
	if want := []float64{50, 20, 0.4, 1.6, 3.2, 2, 4}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestGrowth(t *testing.T) {
	var steps []HeapStep
	for _, least := range []uint64{5, 7, 9, 20, 90, 90, 90, 90, 90, 30} {
		steps = append(steps, HeapStep{Heap: measure.Heap{Least: least, Live: 2 * least}})
	}
	if got := growth(steps); got != 1.5 {
		t.Errorf("growth %v, want the tenth over the fourth", got)
	}
	if got := growth(steps[:9]); got != 0 {
		t.Errorf("growth of nine steps is %v", got)
	}
}

// BenchmarkCrawl is each of the crawlers alone, for profiles.
func BenchmarkCrawl(b *testing.B) {
	o := Options{Concurrency: 32, Repo: repository.Options{Workers: 4, Collect: true}}
	for _, side := range new(Result).sides(b.Context(), o, nil) {
		if side.Name == "indexer" || side.Name == "parse" || side.Name == "floor" || side.Name == "colly" {
			b.Run(side.Name, func(b *testing.B) { benchmarkSide(b, side) })
		}
	}
}

func benchmarkSide(b *testing.B, side *Side) {
	s := newSite(3000, crawlLinks, crawlTree, crawlBytes)
	n, cpu, server := 0, time.Duration(0), time.Duration(0)
	for b.Loop() {
		r, err := s.crawled(b.Context(), side)
		if err != nil {
			b.Fatal(err)
		}
		n, cpu, server = n+r.Pages, cpu+r.CPU, server+r.Server
	}
	b.ReportMetric(cpu.Seconds()*1000/float64(n), "cpu-ms/page")
	b.ReportMetric(server.Seconds()*1000/float64(n), "server-ms/page")
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "pages/s")
}

func BenchmarkInterpret(b *testing.B) {
	s := newSite(10, crawlLinks, crawlTree, crawlBytes)
	body := s.appendPage(nil, 3)
	f := page.Fetch{URL: "http://127.0.0.1/p/3", Status: 200, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: body}
	for b.Loop() {
		page.Interpret(&f)
	}
}
