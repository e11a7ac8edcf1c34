package crawltest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
)

// TestAnswers: inspect gives the reason for every URL that was not fetched.
func TestAnswers(t *testing.T) {
	t.Parallel()
	w := Serve(t, answersWeb())
	s := NewSetting(t.TempDir(), time.Millisecond, w.URL("http://here.ip117/"), page.MustParseURL("http://"+nowhere(t)+"/"))
	s.Config.MaxDepth, s.Config.Exclude, s.WARC = 2, []string{"/private/"}, ""
	s.Options.Revisits.MaxStrikes = 1
	s.Fetch.MaxBody = 64 << 10
	session := openCrawl(t, s)
	defer func() { closeCrawl(t, session) }()
	if err := session.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, state, rule, want string }{
		{"http://here.ip117/private/x", "unknown", "scope.exclude", `matches the exclude pattern "/private/"`},
		{"http://there.ip118/", "unknown", "scope.host", "which is no seed's host"},
		{"http://here.ip117/deep/3", "unknown", "scope.depth", "is at depth 3, and the crawl goes to 2"},
		{"http://here.ip117/a/a/a/", "unknown", "trap.repeated-segments", `has "a" 3 times in a row in its path`},
		{"http://here.ip117/long/" + strings.Repeat("x", 2100), "unknown", "trap.length", "bytes long, more than 2048"},
		{"http://here.ip117/list?PHPSESSID=1", "unknown", "trap.session", "the crawl takes http://here.ip117/list instead"},
		{"http://here.ip117/hop/11", "unknown", "scope.host", "http://here.ip117/hop/10 redirects to it after 10 redirects in a row, and no more are followed"},
		{"http://here.ip117/nofollow", "unknown", "scope.host", "nothing that was fetched leads to it: no link that counts (without nofollow,"},
		{"http://here.ip117/never", "unknown", "scope.host", "nothing that was fetched leads to it"},
		{"http://here.ip117/secret", "refused", "scope.host", "robots.disallow: robots.txt line 2: Disallow: /secret"},
		{"http://here.ip117/broken", "waiting", "scope.host", "it was visited, and nothing came of it: failed once: status 500"},
		{"http://here.ip117/large", "waiting", "scope.host", "it was visited, and nothing came of it: failed: too-large: "},
		{string(s.Seeds[1]), "waiting", "scope.seed", "robots.txt of its host could not be fetched, and nothing is fetched without it: robots.txt is unreachable (connect: the connection was refused)"},
		// What was fetched needs no such answer.
		{"http://here.ip117/", "waiting", "scope.seed", ""},
		{"http://here.ip117/hop/10", "waiting", "scope.host", ""},
		{"http://here.ip117/gone", "waiting", "scope.host", ""},
	} {
		u := page.MustParseURL(w.Real(c.name))
		i := inspectedCrawl(t, session.Repo, u)
		got := w.Named(i.NotFetched)
		if i.State != c.state || i.Rule != c.rule || !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%.80s: %s by %s, not fetched because %q; want %s by %s, %q", c.name, i.State, i.Rule, got, c.state, c.rule, c.want)
		}
	}
}

// TestAnswersWaiting: URLs that the crawl has not come to, and URLs of a host at a
// refused address.
func TestAnswersWaiting(t *testing.T) {
	t.Parallel()
	w := Serve(t, plainPages("queue.ip119", 3))
	s := NewSetting(t.TempDir(), time.Millisecond, w.URL("http://queue.ip119/p/1"))
	s.WARC, s.Options.Limits.Pages = "", 1
	session := openCrawl(t, s)
	if err := session.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	i := inspectedCrawl(t, session.Repo, w.URL("http://queue.ip119/p/2"))
	if i.State != "waiting" || !strings.Contains(i.NotFetched, "the crawl has not come to it") {
		t.Errorf("%s, not fetched because %q", i.State, i.NotFetched)
	}
	closeCrawl(t, session)

	s = NewSetting(t.TempDir(), time.Millisecond, w.URL("http://queue.ip119/p/1"))
	s.WARC, s.Fetch.AllowPrivate = "", false
	session = openCrawl(t, s)
	defer func() { closeCrawl(t, session) }()
	if err := session.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	i = inspectedCrawl(t, session.Repo, s.Seeds[0])
	if !strings.Contains(i.NotFetched, "at an address of a private network, from which nothing is fetched without --allow-private") {
		t.Errorf("%s, not fetched because %q", i.State, i.NotFetched)
	}
}

func inspectedCrawl(t testing.TB, r *repository.Repository, u page.URL) *frontier.Inspection {
	t.Helper()
	i, err := frontier.Inspect(t.Context(), r.DB(), u)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func answersWeb() string {
	var b strings.Builder
	fmt.Fprintf(&b, `
-- 2024-01-01 http://here.ip117/ --
<title>Here</title><p>From this page a link leads to every kind of address that a crawl does not fetch, and to some that it does.
<a href="/private/x">excluded</a> <a href="http://there.ip118/">other host</a> <a href="/deep/1">deep</a> <a href="/a/a/a/">trap</a>
<a href="/long/%s">long</a> <a href="/list?PHPSESSID=1">session</a> <a href="/hop/0">hops</a> <a rel=nofollow href="/nofollow">nofollow</a>
<a href="/secret">secret</a> <a href="/broken">broken</a> <a href="/large">large</a> <a href="/gone">gone</a>
-- 2024-01-01 http://here.ip117/robots.txt --
Content-Type: text/plain

User-agent: *
Disallow: /secret
-- 2024-01-01 http://there.ip118/ --
<title>There</title><p>Nobody comes here.
-- 2024-01-01 http://here.ip117/list --
<title>List</title><p>The list is the same whoever reads it, with and without a session, and so one address of it is enough for all.
-- 2024-01-01 http://here.ip117/broken 500 --
<title>Broken</title>
-- 2024-01-01 http://here.ip117/large --
<title>Large</title><p>%s
`, strings.Repeat("x", 2100), strings.Repeat("This page is large. ", 5000))
	for i := range 3 {
		fmt.Fprintf(&b, "-- 2024-01-01 http://here.ip117/deep/%d --\n<title>Deep %d</title><p>This page is as deep as %d links from the first, and the next one is one deeper. <a href=\"/deep/%d\">next</a>\n", i+1, i+1, i+1, i+2)
	}
	for i := range 13 {
		fmt.Fprintf(&b, "-- 2024-01-01 http://here.ip117/hop/%d 302 --\nLocation: /hop/%d\n\n", i, i+1)
	}
	return b.String()
}
