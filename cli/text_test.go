package cli

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/index/snippet"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/counts"
	"github.com/webindexer/indexer/verify"
)

// The texts that people read, where the scripts cannot bring them about.
func TestTexts(t *testing.T) {
	hit := search.Hit{
		Position: 3, URL: "https://a.example/", Title: "A\x1b title", Rank: 1.5, Language: "en",
		Snippet:   snippet.Snippet{Text: "the lamp \x1band its lens", Marks: []snippet.Range{{Start: 4, End: 8}}},
		FetchedAt: time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC), Inlinks: 1,
		Duplicates: nil,
	}
	rep := &verify.Report{SnapshotTS: 7, Checked: map[string]int{"urls": 2}, Total: 21}
	for range 21 {
		rep.Differences = append(rep.Differences, verify.Difference{Table: "member", Row: "r", Column: "c", Computed: "x"})
	}
	for name, tt := range map[string]struct{ got, want string }{
		"marks are bold on a terminal": {
			resultsText(&search.Results{Total: 5, AllWords: 2, TookMS: 1.26, Hits: []search.Hit{hit}}, 2, style{on: true}),
			"5 documents, 2 of them with all the words (1.3 ms)\n\n" +
				" 3. \x1b[1mA  title\x1b[0m\n    https://a.example/\n    the \x1b[1mlamp\x1b[0m  and its lens\n" +
				"    \x1b[2mrank 1.500 · en · fetched 2024-03-01 · 1 link to it\x1b[0m\n",
		},
		"and nothing elsewhere": {
			resultsText(&search.Results{Total: 1, AllWords: 1, Ignored: 1, Hits: []search.Hit{hit}}, 0, style{}),
			"1 document (0.0 ms)\nThe query is too long. Ignored at its end: 1 word.\n\n" +
				" 3. A  title\n    https://a.example/\n    the lamp  and its lens\n" +
				"    rank 1.500 · en · fetched 2024-03-01 · 1 link to it\n",
		},
		"stats with work left": {
			statsText(&repository.Stats{
				Counts:  counts.Counts{URLs: 3, Ranks: counts.Ranks{Tolerance: 0.001, ResidualSum: 0.02, ResidualBound: 1.5}},
				Backlog: map[string]int{"links": 2, "cluster": 0, "document": 5}, Dead: 1, OldestNotificationMS: 2100,
				FetchToSearchableMS: repository.LatencyMS{P50: 85, P95: 120.4, P99: 1500, N: 9},
			}),
			"urls             3\npages            0\nredirects        0\ngone             0\nfailed           0\nother            0\n" +
				"clusters         0\nindexed          0\nlinks            0\nranks            relative error at most 0.001; residual 0.0200 of at most 1.5000\nwaiting          7 rows\n  document       5\n  links          2\n" +
				"oldest waits     2.1s\ngiven up on      1 row\nsearchable in    85ms (median; 95 %: 120ms, 99 %: 1.5s; 9 pages)\n",
		},
		"stats with one page": {
			firstLine(statsText(&repository.Stats{FetchToSearchableMS: repository.LatencyMS{P50: 4, P95: 4, P99: 4, N: 1}}), "searchable"),
			"searchable in    4ms (median; 95 %: 4ms, 99 %: 4ms; 1 page)\n",
		},
		"stats with documents that cannot be read": {
			firstLine(statsText(&repository.Stats{Counts: counts.Counts{Unreadable: observers.Unreadable{PDF: 1, Office: 2}}}), "unreadable"),
			"unreadable       1 PDF document, 2 office documents; `indexer inspect URL` says why\n",
		},
		"problems": {problemsText([]string{"a.warc:0: cut"}, 2), "2 problems in the files; everything readable was loaded:\n  a.warc:0: cut\n  and 1 more\n"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s:\ngot  %q\nwant %q", name, tt.got, tt.want)
		}
	}
	head := "snapshot         7\nurls             2 checked\ndifferences      21\n                 member r c: stored nothing, computed x\n"
	report := reportText(rep)
	if !strings.HasPrefix(report, head) {
		t.Errorf("the report begins %q", report[:len(head)])
	}
	if want := "                 and 1 more (--format json has all)\n"; !strings.HasSuffix(report, want) {
		t.Errorf("the report ends %q", report[len(report)-80:])
	}
}

// firstLine is the first line of a text that begins so.
func firstLine(text, begins string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, begins) {
			return line
		}
	}
	return ""
}

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"./data": "./data", "/srv/Büro": "/srv/Büro", "": "''", "my data": "'my data'", "it's": `'it'\''s'`, "~x": "'~x'",
		"opensearch+https://h/n?shards=2&replicas=1": "'opensearch+https://h/n?shards=2&replicas=1'",
	} {
		if got := shellWord(word); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}

// TestNothingFetched: only if every request was refused for its address does the message
// blame the seeds. Otherwise it names every host with its reason.
func TestNothingFetched(t *testing.T) {
	guarded := crawler.Unreached{Host: "http://127.0.0.1:1", Why: "refused-address: 127.0.0.1 is loopback", Attempts: 1}
	nowhere := crawler.Unreached{Host: "http://nowhere.example", Why: "dns: no such host", Attempts: 2}
	for _, c := range []struct {
		failures  map[string]int64
		unreached []crawler.Unreached
		want      string
	}{
		{map[string]int64{"refused-address": 1}, []crawler.Unreached{guarded}, "the seeds have private or loopback addresses; --allow-private permits crawling them"},
		{map[string]int64{"dns": 2}, []crawler.Unreached{nowhere}, "http://nowhere.example (dns: no such host; 2 attempts)"},
		{map[string]int64{"dns": 2, "refused-address": 1}, []crawler.Unreached{guarded, nowhere}, "http://127.0.0.1:1 (refused-address: 127.0.0.1 is loopback; 1 attempt); http://nowhere.example (dns: no such host; 2 attempts); --allow-private permits crawling private and loopback addresses"},
	} {
		sum := crawlSummary{Status: crawler.Status{Failures: c.failures, Unreached: c.unreached, UnreachedTotal: len(c.unreached)}}
		if err := sum.nothingFetched(); !errors.Is(err, errNothingFetched) || err.Error() != errNothingFetched.Error()+": "+c.want {
			t.Errorf("%v: %v, want %s", c.failures, err, c.want)
		}
	}
}
