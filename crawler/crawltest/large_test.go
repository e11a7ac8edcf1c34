package crawltest

import (
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
)

// TestLargeFiles: if a robots.txt is larger than any page may be, or has no end, its beginning
// counts. Sitemaps may be larger than pages as well.
func TestLargeFiles(t *testing.T) {
	t.Parallel()
	const rules = "User-agent: *\nDisallow: /secret\nSitemap: /map.xml\n"
	for host, robots := range map[string]page.Fetch{
		"long.ip141":    {Body: []byte(rules + strings.Repeat("# and so on\n", 1<<17))},
		"endless.ip142": {Body: []byte(rules), Header: map[string][]string{"X-Serve": {"endless"}}},
		"packed.ip143": {
			Body:   compress("gzip", []byte(rules+strings.Repeat("# and so on\n", 1<<18))),
			Header: map[string][]string{"Content-Encoding": {"gzip"}},
		},
	} {
		t.Run(host, func(t *testing.T) {
			w := Serve(t, strings.ReplaceAll(`-- 2024-01-01 http://HOST/ --
<title>Large</title><p>This host has files that are larger than any page may be: <a href="/secret">secret</a>
-- 2024-01-01 http://HOST/listed --
<title>Listed</title><p>Only the sitemap leads to this page, and the sitemap is larger than a page may be.
-- 2024-01-01 http://HOST/secret --
X-Expect: 0
X-Index: no
<title>Secret</title><p>Nobody may read this page, by the very first lines of the robots.txt of this host.
`, "HOST", host))
			robots.Status = 200
			sitemap := page.Fetch{Status: 200, Body: []byte("<urlset><url><loc>" + string(w.URL("http://"+host+"/listed")) + "</loc></url><!--" +
				strings.Repeat(" and so on", 1<<17) + "--></urlset>")}
			w.hosts[host].answer = func(path string) *page.Fetch {
				switch path {
				case "/robots.txt":
					return &robots
				case "/map.xml":
					return &sitemap
				}
				return nil
			}
			s := NewSetting(t.TempDir(), 10*time.Millisecond, w.URL("http://"+host+"/"))
			s.Fetch.MaxPayload = 512 << 10
			docs, digest := crawlOnce(t, s)
			counts := w.Counts()
			if counts[host+"/map.xml"] != 1 {
				t.Errorf("the sitemap was requested %d times", counts[host+"/map.xml"])
			}
			delete(counts, host+"/map.xml")
			expected := w.Expected(t)
			delete(expected, host+"/secret")
			compareCounts(t, counts, expected)
			checkMembers(t, w.Members(docs), w.indexed())
			if _, replayed := Replay(t, s.WARC); replayed != digest {
				t.Errorf("the archive's replay has digest %s, the crawl %s", replayed, digest)
			}
		})
	}
}
