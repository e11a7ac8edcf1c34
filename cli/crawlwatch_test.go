package cli

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/repository"
)

// What the status line of a crawl says of its slowness.
func TestCrawlLine(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	host := func(why string) []crawler.HostStatus {
		return []crawler.HostStatus{{Host: "https://a.example", Why: why}}
	}
	for name, tt := range map[string]struct {
		status crawler.Status
		live   *repository.Stats
		want   string
	}{
		"at work": {
			crawler.Status{Pages: 7, PerSecond: 1.5, Bytes: 2e6, InProgress: 1, Hosts: crawler.HostCounts{Active: 1, Politeness: 2}, Busiest: host("page")},
			&repository.Stats{Backlog: map[string]int{"links": 2, "index": 1}, FetchToSearchableMS: repository.LatencyMS{P50: 1234}},
			"7 pages  1.5/s  2.0 MB  1 active  2 waiting for their delay  3 to index  searchable in 1.2s  a.example: page",
		},
		"one page": {crawler.Status{Pages: 1}, &repository.Stats{}, "1 page  0.0/s  0.0 MB"},
		"at work beside a host that does not answer": {
			crawler.Status{Hosts: crawler.HostCounts{Politeness: 1, Robots: 1}, Busiest: host("robots.txt is unreachable (connect)")}, &repository.Stats{},
			"0 pages  0.0/s  0.0 MB  1 waiting for their delay  1 waiting for robots.txt",
		},
		"only a host that does not answer": {
			crawler.Status{Hosts: crawler.HostCounts{Robots: 1}, Busiest: host("robots.txt is unreachable (connect)")}, &repository.Stats{},
			"0 pages  0.0/s  0.0 MB  1 waiting for robots.txt  a.example: robots.txt is unreachable (connect)",
		},
		"paused": {
			crawler.Status{Paused: "only 3 MiB are free", Busiest: host("page")}, &repository.Stats{},
			"0 pages  0.0/s  0.0 MB  paused: only 3 MiB are free",
		},
		"nothing to do for a day": {
			crawler.Status{Hosts: crawler.HostCounts{Sleeping: 3}, Next: now.Add(24 * time.Hour)}, &repository.Stats{},
			"0 pages  0.0/s  0.0 MB  3 asleep  nothing is due until " + now.Add(24*time.Hour).Local().Format(time.DateTime),
		},
		"a request is under way": {
			crawler.Status{InProgress: 1, Next: now.Add(24 * time.Hour)}, &repository.Stats{},
			"0 pages  0.0/s  0.0 MB",
		},
	} {
		if got := crawlLine(tt.status, tt.live, now); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, tt.want)
		}
	}
}

// The summary of a crawl counts what there is, in the number it is in.
func TestCrawlSummary(t *testing.T) {
	s := crawlSummary{Data: "data", search: "Try: indexer --data data query WORDS\n", place: "The index in data/index", Seconds: 1.26, Documents: 1}
	s.Pages, s.Requests, s.Ended = 1, 2, "nothing is due"
	s.Statuses, s.Refused = map[int]int64{200: 2}, map[string]int64{"robots.disallow": 0}
	want := "Fetched 1 page (2 requests, 0.0 MB) in 1.3s. It ended because nothing is due.\n  responses: 2 × HTTP 200\n" +
		"The index in data/index has 1 document.\nTry: indexer --data data query WORDS\n"
	if got := s.text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	s.alone = []crawler.HostStatus{{Host: "https://example.com", Why: "status 429 with Retry-After", Until: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}}
	if got := s.text(); !strings.Contains(got, "\n  left alone until 2026-03-01T12:00:00Z: https://example.com (status 429 with Retry-After)\n") {
		t.Errorf("a host that asked to be left alone: %s", got)
	}
	s.Ended = crawler.EndedByContext
	if got := s.text(); !strings.HasPrefix(got, "Fetched 1 page (2 requests, 0.0 MB) in 1.3s. It ended because it was interrupted.\n") {
		t.Errorf("an interrupted crawl: %s", got)
	}
	s.Others, s.Backlog = true, 7
	if got := s.text(); !strings.Contains(got, "\n  Other processes continue the crawl. Observers still have 7 rows to process, so not every page may be in the index yet.\n") {
		t.Errorf("one of several crawlers: %s", got)
	}
	s.Documents = 0
	if got := s.text(); strings.Contains(got, "Try:") {
		t.Errorf("it is proposed to search an empty index:\n%s", got)
	}
}

// If a seeds file is something else, only its beginning is reported.
func TestBadSeeds(t *testing.T) {
	_, err := parseSeeds(t.Context(), "some.txt", io.NopCloser(strings.NewReader(strings.Repeat("no url\n", 30))))
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxBadSeeds+1 || !strings.HasPrefix(lines[0], "some.txt:1: ") || lines[maxBadSeeds] != "some.txt: and 10 more lines" {
		t.Errorf("%d lines, from %q to %q", len(lines), lines[0], lines[len(lines)-1])
	}
	if status := report(err, new(strings.Builder), false); status != statusUsage {
		t.Errorf("status %d", status)
	}
}
