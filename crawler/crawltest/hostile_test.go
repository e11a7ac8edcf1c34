package crawltest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
)

// TestHostile crawls hosts that attack their visitor: each page is requested as often
// as its text says, politely, and the good pages are found. Another host redirects for
// ever to new URLs.
func TestHostile(t *testing.T) {
	t.Parallel()
	const delay = 10 * time.Millisecond
	w := ServeFile(t, "hostile.txt")
	var hops int
	partner := w.hosts["partner.ip81"]
	partner.answer = func(path string) *page.Fetch {
		var n int
		if _, err := fmt.Sscanf(path, "/hops/%d", &n); err != nil {
			return nil
		}
		return &page.Fetch{Status: http.StatusFound, Header: http.Header{"Location": {fmt.Sprintf("/hops/%d", n+1)}}}
	}
	s := NewSetting(t.TempDir(), delay, w.URL("http://hostile.ip80/"), w.URL("http://partner.ip81/"))
	s.Fetch.HeaderTime, s.Fetch.StallTime, s.Fetch.MinRate = time.Second, 300*time.Millisecond, 1000
	s.Fetch.MaxHeader, s.Fetch.MaxPayload = 64<<10, 512<<10
	docs, digest := crawlOnce(t, s)

	counts := w.Counts()
	for name, n := range counts {
		if strings.HasPrefix(name, "partner.ip81/hops/") {
			hops++
			if n != 1 {
				t.Errorf("%s was requested %d times", name, n)
			}
			delete(counts, name)
		}
	}
	if hops < 5 || hops > 20 {
		t.Errorf("%d redirects in a row were followed, want about ten", hops)
	}
	compareCounts(t, counts, w.Expected(t))
	w.CheckPoliteness(t, delay)
	checkMembers(t, w.Members(docs), w.indexed())
	if _, replayed := Replay(t, s.WARC); replayed != digest {
		t.Errorf("the archive's replay has digest %s, the crawl %s", replayed, digest)
	}
}

// TestTLS crawls hosts with certificates of their own authority, over HTTP/2. A crawl
// that trusts another authority makes no request at all.
func TestTLS(t *testing.T) {
	t.Parallel()
	const delay = 10 * time.Millisecond
	w := Serve(t, tlsWeb("left.ip82", "right.ip83", 20))
	s := NewSetting(t.TempDir(), delay, w.URL("https://left.ip82/"), w.URL("https://right.ip83/"))
	if err := trust(&s.Fetch, w.Roots()); err != nil {
		t.Fatal(err)
	}
	docs, digest := crawlOnce(t, s)
	w.CheckCounts(t, w.Expected(t))
	w.CheckPoliteness(t, delay)
	checkMembers(t, w.Members(docs), w.indexed())
	for _, x := range w.Log() {
		if x.Proto != "HTTP/2.0" {
			t.Errorf("%s%s was requested over %s", x.Host, x.Path, x.Proto)
		}
	}
	if _, replayed := Replay(t, s.WARC); replayed != digest {
		t.Errorf("the archive's replay has digest %s, the crawl %s", replayed, digest)
	}

	w.Forget()
	untrusting := NewSetting(t.TempDir(), delay, s.Seeds...)
	if err := trust(&untrusting.Fetch, Serve(t, "-- 2024-01-01 https://other.ip84/ --\n<p>other").Roots()); err != nil {
		t.Fatal(err)
	}
	if docs, _ := crawlOnce(t, untrusting); len(docs) > 0 || len(w.Log()) > 0 {
		t.Errorf("with certificates that are not trusted %d documents were found by %d requests", len(docs), len(w.Log()))
	}
}

// tlsWeb is the text of two hosts that link to each other, with n pages each.
func tlsWeb(left, right string, n int) string {
	var b strings.Builder
	for i, name := range []string{left, right} {
		other := []string{right, left}[i]
		fmt.Fprintf(&b, "-- 2024-01-01 https://%s/ --\n<title>%s</title><p>The host %s speaks no other protocol than one that nobody else can read, and leads to <a href=\"/p/1\">one</a>, <a href=\"/old\">old</a> and <a href=\"https://%s/p/2\">two</a>.\n", name, name, name, other)
		fmt.Fprintf(&b, "-- 2024-01-01 https://%s/old 301 https://%s/new --\nX-Index: yes\n", name, other)
		fmt.Fprintf(&b, "-- 2024-01-01 https://%s/new --\nX-Serve: br\n<title>New</title><p>This is where the old page of the other host went, and %s has it now.\n", name, name)
	}
	plain := plainPages(left, n) + plainPages(right, n)
	return b.String() + strings.ReplaceAll(plain, "http://", "https://")
}
