package crawltest

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
)

// TestWholeWeb crawls everything that whole.txt has.
func TestWholeWeb(t *testing.T) {
	t.Parallel()
	const delay = 20 * time.Millisecond
	text, err := os.ReadFile("testdata/whole.txt")
	if err != nil {
		t.Fatal(err)
	}
	w := Serve(t, string(text)+plainPages("plain.ip2", 100))
	s := NewSetting(t.TempDir(), delay, w.URL("http://plain.ip2/"), w.URL("http://twin.ip3/"), w.URL("http://brother.ip3/"),
		w.URL("http://broken.ip5/"), w.URL("http://closed.ip6/"), w.URL("http://soft.ip7/"))
	// Long enough for a busy machine to answer what it does answer.
	s.Fetch.HeaderTime = 1500 * time.Millisecond
	docs, digest := crawlOnce(t, s)

	w.CheckCounts(t, w.Expected(t))
	w.CheckPoliteness(t, delay)
	checkMembers(t, w.Members(docs), w.indexed())
	if _, replayed := Replay(t, s.WARC); replayed != digest {
		t.Errorf("the archive's replay has digest %s, the crawl %s", replayed, digest)
	}
}

// crawlOnce crawls until nothing is due; the index must be what the fetches mean.
func crawlOnce(t testing.TB, s Setting) (docs []document, digest string) {
	t.Helper()
	session := openCrawl(t, s)
	defer closeCrawl(t, session)
	if err := session.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if session.Status.Ended != "nothing is due" {
		t.Errorf("the crawl ended as %q", session.Status.Ended)
	}
	Verify(t, session.Repo)
	return Export(t, session.Repo)
}

// plainPages is the text of n pages /p/N, each of which links to the next, and to
// one of the first ones.
func plainPages(host string, n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		next := ""
		if i < n {
			next = fmt.Sprintf(`<a href="/p/%d">next</a>`, i+1)
		}
		fmt.Fprintf(&b, "-- 2024-01-01 http://%s/p/%d --\n<title>Page %d</title><p>Page number %d of %s has %d letters less than it could have. %s <a href=\"/p/%d\">back</a>\n",
			host, i, i, i, host, i*i+7, next, i/2+1)
	}
	return b.String()
}

// indexed are the names of the pages that must be in the index, sorted.
func (w *Web) indexed() (names []string) {
	w.each(func(name string, f *page.Fetch) {
		said := f.Header.Get("X-Index")
		if said == "yes" || said == "" && f.Status == http.StatusOK && f.Err == "" {
			names = append(names, name)
		}
	})
	slices.Sort(names)
	return names
}

// checkMembers compares lists of pages in the index.
func checkMembers(t testing.TB, got, want []string) {
	t.Helper()
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%s is not in the index", name)
		}
	}
	for _, name := range got {
		if !slices.Contains(want, name) {
			t.Errorf("%s is in the index", name)
		}
	}
}
