package crawltest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// wallSite is a host with a cookie wall before everything, robots.txt included.
func wallSite(how string) func(http.ResponseWriter, *http.Request) bool {
	n := 0 // one request at a time
	return func(w http.ResponseWriter, r *http.Request) bool {
		pass := func(name, value, location string) bool {
			http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/"})
			http.Redirect(w, r, location, http.StatusFound)
			return true
		}
		if _, err := r.Cookie("seen"); err == nil && how != "without end" {
			return false
		}
		switch n++; {
		case how == "two pages" && r.URL.Path == "/one":
			return pass("seen", "yes", "/other")
		case how == "two pages" && r.URL.Path == "/other":
			http.Redirect(w, r, "/one", http.StatusFound)
			return true
		case r.URL.Path == "/plain" || r.URL.Path == "/robots.txt" && how == "without end":
			return false
		case how == "itself", how == "two pages":
			return pass("seen", "yes", r.URL.RequestURI())
		case how == "without end":
			return pass("seen", fmt.Sprint(n), r.URL.RequestURI())
		case r.URL.Path == "/check":
			if _, err := r.Cookie("probe"); err != nil {
				http.Redirect(w, r, "/plain", http.StatusFound)
				return true
			}
			return pass("seen", "yes", r.URL.Query().Get("back"))
		}
		return pass("probe", "1", "/check?back="+r.URL.Path)
	}
}

// walledWeb is a site whose pages are behind a wall.
const walledWeb = `-- 2024-01-01 http://HOST/robots.txt --
Content-Type: text/plain

User-agent: *
Disallow: /secret
-- 2024-01-01 http://HOST/ --
<title>Start</title><p>Whoever brings the cookie may read this page, and go on to: <a href="/one">one</a> <a href="/two">two</a> <a href="/secret">secret</a>
-- 2024-01-01 http://HOST/one --
<title>One</title><p>This is the first of the pages that are behind the wall, and it has an end here.
-- 2024-01-01 http://HOST/two --
<title>Two</title><p>This is the second of the pages that are behind the wall, and it ends here as well.
-- 2024-01-01 http://HOST/other --
<title>Other</title><p>This page can be read by those only who have come from the first page behind the wall.
-- 2024-01-01 http://HOST/plain --
<title>No cookies</title><p>This page says that the site cannot be read without cookies, and it is before the wall.
-- 2024-01-01 http://HOST/secret --
<title>Secret</title><p>Nobody may read this page, by the robots.txt that is behind the wall itself.
`

// checkWalledRequests checks the requests of one visit.
func checkWalledRequests(t *testing.T, w *Web, host string) {
	t.Helper()
	counts := w.Counts()
	if n := counts[host+"/"]; n < 2 || n > 6 {
		t.Errorf("the start was requested %d times", n)
	}
	if counts[host+"/secret"] > 0 {
		t.Error("what robots.txt disallows was requested")
	}
	began := make(map[string]bool)
	for _, x := range w.Log() {
		if !began[x.Path] && x.Header.Get("Cookie") != "" && !strings.HasPrefix(x.Path, "/check") && x.Path != "/other" {
			t.Errorf("the first request for %s had the cookies %q", x.Path, x.Header.Get("Cookie"))
		}
		began[x.Path] = true
	}
}

// TestCookieWall: each visit passes the wall on its own: nothing is kept between
// visits. Politeness, robots.txt and the limit of redirects hold. The archive's replay
// gives the same index.
func TestCookieWall(t *testing.T) {
	t.Parallel()
	const delay = 20 * time.Millisecond
	for _, c := range []struct{ how, host, indexed string }{
		{"itself", "w1.ip53", "/ /one /two"},
		{"over a check", "w2.ip54", "/ /one /two"},
		{"two pages", "w4.ip57", "/ /one /two /other"},
		{"without end", "w3.ip55", ""},
	} {
		t.Run(c.how, func(t *testing.T) {
			t.Parallel()
			w := Serve(t, strings.ReplaceAll(walledWeb, "HOST", c.host))
			w.Handle(c.host, wallSite(c.how))
			s := NewSetting(t.TempDir(), delay, w.URL("http://"+c.host+"/"))
			s.Options.Sources.NoProbe = true
			session := openCrawl(t, s)
			defer closeCrawl(t, session)
			var want []string
			for path := range strings.FieldsSeq(c.indexed) {
				want = append(want, c.host+path)
			}
			for visit := range 2 {
				t.Logf("visit %d", visit)
				if visit > 0 {
					session.MakeDue(t, w.URL("http://"+c.host+"/"))
				}
				w.Forget()
				if err := session.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				docs, digest := Export(t, session.Repo)
				checkMembers(t, w.Members(docs), want)
				if _, replayed := Replay(t, session.WARC); replayed != digest {
					t.Errorf("visit %d: the archive's replay has digest %s, the crawl %s", visit, replayed, digest)
				}
				w.CheckPoliteness(t, delay)
				checkWalledRequests(t, w, c.host)
			}
			Verify(t, session.Repo)
		})
	}
}

// TestDetours: a host that sets a cookie with each redirect is asked twice for the
// targets of a few redirects, and once for the rest.
func TestDetours(t *testing.T) {
	t.Parallel()
	const pages = 30
	var text strings.Builder
	text.WriteString("-- 2024-01-01 http://old.ip56/ --\n<title>Old addresses</title><p>All pages of this host have moved, each to a new address, and a cookie comes with it.\n")
	for i := range pages {
		fmt.Fprintf(&text, "<a href=\"/old/%d\">%d</a>\n", i, i)
	}
	for i := range pages {
		fmt.Fprintf(&text, "-- 2024-01-01 http://old.ip56/new/%d --\n<title>New %d</title><p>This is page number %d of those that have moved, at its new address, with enough to say.\n", i, i, i)
	}
	w := Serve(t, text.String())
	w.Handle("old.ip56", func(rw http.ResponseWriter, r *http.Request) bool {
		path, old := strings.CutPrefix(r.URL.Path, "/old/")
		if old {
			http.SetCookie(rw, &http.Cookie{Name: "session", Value: path, Path: "/"})
			http.Redirect(rw, r, "/new/"+path, http.StatusMovedPermanently)
		}
		return old
	})
	docs, _ := crawlOnce(t, NewSetting(t.TempDir(), -1, w.URL("http://old.ip56/")))
	if len(docs) != pages+1 {
		t.Errorf("%d documents, want %d", len(docs), pages+1)
	}
	again := 0
	for name, n := range w.Counts() {
		if strings.Contains(name, "/new/") {
			again += n - 1
		}
	}
	if again < 1 || again > 10 {
		t.Errorf("%d targets of redirects were requested a second time", again)
	}
}
