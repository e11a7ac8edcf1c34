package crawltest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/crawler/fetch"
	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/crawler/robots"
	"github.com/webindexer/indexer/crawler/scope"
	"github.com/webindexer/indexer/crawler/seeds"
	"github.com/webindexer/indexer/crawler/sitemap"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
)

// TestLimitsAreDocumented: docs/crawl.md has each limit with the value that holds.
func TestLimitsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/crawl.md")
	if err != nil {
		t.Fatal(err)
	}
	traps, f, o := scope.DefaultTrapConfig(), fetch.Options{}.WithDefaults(), crawler.Options{}.WithDefaults()
	p, r := &o.Politeness, &o.Revisits
	for limit, value := range map[string]string{
		"URL, to be known at all":                                          size(page.MaxURLLength),
		"URL, to be fetched":                                               size(traps.MaxLength),
		"path segments":                                                    fmt.Sprint(traps.MaxSegments),
		"repeats of a group of segments in a row":                          fmt.Sprint(traps.MaxBlockCopies),
		"repeats of a segment in a path":                                   fmt.Sprint(traps.MaxSameSegment),
		"repeats of a parameter in a query":                                fmt.Sprint(traps.MaxSameParameter),
		"queries of one or two parameters at a path":                       fmt.Sprint(traps.MaxQueries),
		"queries of more parameters at a path":                             fmt.Sprint(traps.MaxCombinations),
		"calendar pages":                                                   fmt.Sprintf("%d years back, %d ahead", traps.PastYears, traps.FutureYears),
		"redirects in a row":                                               fmt.Sprint(frontier.MaxHops),
		"frames of a page":                                                 fmt.Sprint(page.MaxFrames),
		"icons that the front page of a host names":                        fmt.Sprintf("%d at a time, %d in all", page.MaxNamedIcons, crawler.MaxNamedIcons),
		"seeds of a file":                                                  fmt.Sprint(seeds.MaxSeeds),
		"requests at a time, all hosts":                                    fmt.Sprint(o.Concurrency),
		"requests at a time, a host or an address":                         fmt.Sprint(p.PerHost),
		"requests at a time, a registrable domain":                         fmt.Sprint(p.PerDomain),
		"pause between two requests":                                       span(p.MinDelay),
		"the same, between the starts of requests to a registrable domain": fmt.Sprint(p.DomainDelay.Milliseconds()) + " ms",
		"Crawl-delay":                                                      span(p.CrawlDelayCap),
		"pause, however slow the host is":                                  span(p.MaxDelay),
		"pause after a failure":                                            span(p.Backoff) + ", doubled up to " + span(p.MaxBackoff),
		"pause that Retry-After asks for, at most":                         span(p.MaxRetryAfter),
		"resolution of a name":                                             span(f.ResolveTime),
		"connection":                                                       span(f.ConnectTime),
		"TLS handshake":                                                    span(f.TLSTime),
		"response header, time":                                            span(f.HeaderTime),
		"response header, size":                                            size(int(f.MaxHeader)),
		"body as sent":                                                     size(int(f.MaxPayload)),
		"body, decoded":                                                    size(int(f.MaxBody)),
		"body, rate":                                                       fmt.Sprintf("%d bytes/s after %s", f.MinRate, span(f.StallTime)),
		"whole exchange":                                                   span(f.TotalTime),
		"robots.txt, size":                                                 size(robots.DefaultMaxBytes),
		"robots.txt, wildcards times URL octets":                           size(robots.MaxSearch),
		"robots.txt, redirects":                                            fmt.Sprint(robots.MaxRedirects),
		"robots.txt, age":                                                  span(robots.MaxLifetime),
		"robots.txt out of reach":                                          span(robots.UnreachableLimit),
		"sitemaps of a host in a daily pass":                               fmt.Sprint(o.Sources.MaxSitemaps),
		"sitemaps that one index leads to":                                 fmt.Sprint(o.Sources.MaxSitemaps) + ", on all hosts together",
		"entries of a sitemap":                                             fmt.Sprint(sitemap.MaxEntries),
		"sitemap, size":                                                    size(sitemap.MaxSize),
		"indexes of sitemaps, nested":                                      fmt.Sprint(sitemap.MaxDepth),
		"feeds of a host":                                                  fmt.Sprint(o.Sources.MaxFeeds),
		"time to the second visit":                                         span(r.FirstInterval),
		"time between visits":                                              span(r.MinInterval) + " to " + span(r.MaxInterval),
		"retry of a visit that failed":                                     span(r.Retry) + ", times 4 with each failure",
		"failures in a row":                                                fmt.Sprintf("%d, then the longest time between visits", r.MaxStrikes),
		"second look at a 404":                                             span(r.GoneRetry),
		"bodies over " + size(fetch.FreeBody) + ", together until they are stored": "a quarter of `memory`",
		"waiting for a visit that is due soon, at the end of a run":                span(o.MaxWait),
		"the same, host that never answered":                                       span(o.MaxWaitUnreached),
		"visits that are remembered":                                               fmt.Sprint(schema.MaxHistory),
		"hosts worked on at a time":                                                fmt.Sprint(o.Memory.Hosts),
		"hosts remembered by name beside them":                                     fmt.Sprint(o.Memory.Waiting),
		"URLs remembered as known":                                                 fmt.Sprint(frontier.MaxKnown),
	} {
		if row := fmt.Sprintf("\n| %s | %s | ", limit, value); !strings.Contains(string(text), row) {
			t.Errorf("docs/crawl.md has no row that begins with %q", row[1:])
		}
	}
}

func span(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}

func size(n int) string {
	switch {
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n%(1<<10) == 0 && n > 8192:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
