package crawlbench

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
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

// BenchmarkCrawl is our side alone, for profiles.
func BenchmarkCrawl(b *testing.B) {
	s := newSite(3000, crawlLinks, crawlTree, crawlBytes)
	benchmarkSite(b, s, func(seed string) (*measure.Run, error) {
		return measure.InTemp(func(dir string) (*measure.Run, error) {
			return ourCrawl(b.Context(), dir, seed, Options{Concurrency: 32, Repo: repository.Options{Workers: 4, Collect: true}}, nil, nil)
		})
	})
}

// BenchmarkParse is our fetcher and parser alone.
func BenchmarkParse(b *testing.B) {
	s := newSite(3000, crawlLinks, crawlTree, crawlBytes)
	benchmarkSite(b, s, func(seed string) (*measure.Run, error) { return bareCrawl(b.Context(), seed, 32, nil) })
}

// BenchmarkFloor is fetching, parsing, and indexing in bulk.
func BenchmarkFloor(b *testing.B) {
	s := newSite(3000, crawlLinks, crawlTree, crawlBytes)
	benchmarkSite(b, s, func(seed string) (*measure.Run, error) {
		return measure.InTemp(func(dir string) (*measure.Run, error) {
			return floorCrawl(b.Context(), dir, seed, Options{Concurrency: 32, Repo: repository.Options{Workers: 4}})
		})
	})
}

// BenchmarkColly is the baseline alone.
func BenchmarkColly(b *testing.B) {
	s := newSite(3000, crawlLinks, crawlTree, crawlBytes)
	benchmarkSite(b, s, func(seed string) (*measure.Run, error) { return collyCrawl(b.Context(), seed, 32, nil) })
}

func benchmarkSite(b *testing.B, s *site, crawl func(seed string) (*measure.Run, error)) {
	n, cpu, server := 0, time.Duration(0), time.Duration(0)
	for b.Loop() {
		r, err := s.crawled(b.Context(), &Side{Name: b.Name(), crawl: crawl})
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
