package crawltest

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/internal/testenv"
)

// sessionSite has n pages. Each response carries an id of its own in all its links, so
// that every page has as many URLs as there are pages with links to it, visited once for
// each of theirs, and so on.
func sessionSite(n int) func(path string) (string, bool) {
	var id atomic.Int64
	return func(target string) (string, bool) {
		u, err := url.Parse(target)
		if err != nil || !strings.HasPrefix(u.Path, "/p/") {
			return "", false
		}
		k, err := strconv.Atoi(strings.TrimPrefix(u.Path, "/p/"))
		if err != nil || k < 0 || k >= n {
			return "", false
		}
		zid := id.Add(1)
		var b strings.Builder
		fmt.Fprintf(&b, "<title>Page %d</title><p>Page number %d of a site whose links carry a session id, and this is what is said on it. ", k, k)
		for i := range 8 {
			fmt.Fprintf(&b, `<a href="/p/%d?zid=%d">to another page</a> `, (k+1+i*k*7)%n, zid)
		}
		return b.String(), true
	}
}

// topics is a part of a site where zid is a name for something else: all the pages.
func topics(n int) func(path string) (string, bool) {
	return func(target string) (string, bool) {
		u, err := url.Parse(target)
		if err != nil {
			return "", false
		}
		switch zid := u.Query().Get("zid"); {
		case u.Path == "/topics":
			var b strings.Builder
			b.WriteString("<title>Topics</title><p>A list of all the topics that there are on this site, each with a page. ")
			for i := range n {
				fmt.Fprintf(&b, `<a href="/topic?zid=%d">topic</a> `, i)
			}
			return b.String(), true
		case u.Path == "/topic":
			return fmt.Sprintf("<title>Topic %s</title><p>What is said about the topic with the number %s, which no other page says.", zid, zid), true
		}
		return "", false
	}
}

// TestSessionIDs: a site whose links carry a session id is fetched completely and about
// once; and the archive's replay gives the same index.
func TestSessionIDs(t *testing.T) {
	t.Parallel()
	const pages = 120
	w, session := sessionWeb(t, "z.ip43", "/p/0", sessionSite(pages))
	if err := session.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	visits := 0
	fetched := make(map[string]bool)
	for name, n := range w.Counts() {
		visits += n
		path, _, _ := strings.Cut(name, "?")
		fetched[path] = true
	}
	if len(fetched) != pages {
		t.Errorf("%d of %d pages were fetched", len(fetched), pages)
	}
	if visits > pages*3/2+30 {
		t.Errorf("%d visits of a site with %d pages", visits, pages)
	}
	t.Logf("%d visits of a site with %d pages", visits, pages)
	docs, digest := Export(t, session.Repo)
	if len(docs) != pages {
		t.Errorf("%d documents, want %d", len(docs), pages)
	}
	if _, replayed := Replay(t, session.WARC); replayed != digest {
		t.Errorf("the archive's replay has digest %s, the crawl %s", replayed, digest)
	}
	list, err := frontier.HostQueues(t.Context(), session.Repo.DB())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || !slices.Equal(list[0].Ignored, []string{"zid"}) {
		t.Errorf("hosts are %+v; want zid ignored", list)
	}
	i, err := frontier.Inspect(t.Context(), session.Repo.DB(), w.URL("http://z.ip43/p/1?zid=999999"))
	if err != nil {
		t.Fatal(err)
	}
	if i.Rule != frontier.ParameterRule || !strings.Contains(i.Why, "in zid only") {
		t.Errorf("inspect says %q: %s", i.Rule, i.Why)
	}
	Verify(t, session.Repo)
}

// TestParameterMattersAfterAll: when the crawl reaches a part of the site where the
// parameter distinguishes pages, what was learned elsewhere is taken back, and no page
// of that part is lost.
func TestParameterMattersAfterAll(t *testing.T) {
	t.Parallel()
	const pages, there = 60, 40
	plain, other := sessionSite(pages), topics(there)
	w, session := sessionWeb(t, "y.ip44", "/p/0", func(target string) (string, bool) {
		body, ok := other(target)
		if !ok {
			if body, ok = plain(target); ok && strings.HasPrefix(target, fmt.Sprintf("/p/%d?", pages-1)) {
				body += `<a href="/topics">topics</a>`
			}
		}
		return body, ok
	})
	if err := session.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	fetched := make(map[string]int)
	for name, n := range w.Counts() {
		path, _, _ := strings.Cut(name, "?")
		fetched[path] += n
	}
	if got := fetched["y.ip44/topic"]; got != there {
		t.Errorf("%d of %d topics were fetched", got, there)
	}
	if docs, _ := Export(t, session.Repo); len(docs) != pages+there+1 {
		t.Errorf("%d documents, want %d", len(docs), pages+there+1)
	}
	t.Logf("%v", session.Status.Pages)
}

func sessionWeb(t *testing.T, host, seed string, site func(string) (string, bool)) (*Web, *Session) {
	w := Serve(t, "-- 2024-01-01 http://"+host+"/robots.txt --\nContent-Type: text/plain\n\nUser-agent: *\nAllow: /\n")
	w.Make(host, site)
	session, err := Open(t.Context(), NewSetting(t.TempDir(), -1, w.URL("http://"+host+seed)))
	if err != nil {
		t.Fatal(err)
	}
	testenv.CloseAtEnd(t, session.Repo)
	session.Options.Limits.Pages = 2000 // end even if it is not bounded otherwise
	return w, session
}
