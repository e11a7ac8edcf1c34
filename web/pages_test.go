package web_test

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/repository/snapshot"
	"github.com/webindexer/indexer/web"
)

// elements yields the elements of a page.
func elements(t testing.TB, source string) iter.Seq[*html.Node] {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(source))
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(*html.Node) bool) {
		for n := range doc.Descendants() {
			if n.Type == html.ElementNode && !yield(n) {
				return
			}
		}
	}
}

// texts returns the text of all elements that match.
func texts(t testing.TB, source string, want func(*html.Node) bool) (list []string) {
	t.Helper()
	for n := range elements(t, source) {
		if want(n) {
			list = append(list, strings.Join(strings.Fields(textOf(n)), " "))
		}
	}
	return list
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func element(name string) func(*html.Node) bool {
	return func(n *html.Node) bool { return n.Data == name }
}

// links returns the link targets of a page.
func links(t testing.TB, source string) (list []string) {
	t.Helper()
	for n := range elements(t, source) {
		if n.Data == "a" {
			list = append(list, attr(n, "href"))
		}
	}
	return list
}

func doc(u string) string { return "/doc?url=" + url.QueryEscape(u) }

// pagesFrom yields a page and those after it, most at the most. The last link of a page for which isNext
// is true leads to the next one.
func (s *stand) pagesFrom(target string, most int, isNext func(*html.Node) bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for ; target != "" && most > 0; most-- {
			body := s.get(target)
			if !yield(body) {
				return
			}
			target = ""
			for n := range elements(s.t, body) {
				if n.Data == "a" && isNext(n) {
					target = attr(n, "href")
				}
			}
		}
	}
}

func TestSearchPage(t *testing.T) {
	s := newStand(t, append(webs(t, "lighthouse", "bakery", "cjk"), many(60)...), nil)
	t.Run("first page", func(t *testing.T) {
		first := s.get("/")
		if got := texts(t, first, element("h1")); len(got) != 1 || got[0] != "indexer" {
			t.Errorf("headings %q", got)
		}
		if !strings.Contains(first, " documents in this index") {
			t.Errorf("it does not tell how many documents there are:\n%s", first)
		}
	})
	t.Run("results", func(t *testing.T) {
		found := s.get("/?q=lighthouse+museum")
		titles := texts(t, found, element("h2"))
		if len(titles) == 0 || !strings.Contains(titles[0], "ighthouse") {
			t.Errorf("titles %q", titles)
		}
		marks := texts(t, found, element("mark"))
		if len(marks) == 0 {
			t.Error("no word of the query is marked")
		}
		for _, m := range marks {
			if low := strings.ToLower(m); !strings.HasPrefix(low, "lighthouse") && !strings.HasPrefix(low, "museum") {
				t.Errorf("%q is marked", m)
			}
		}
	})
	t.Run("pages of results", func(t *testing.T) {
		seen, pages := make(map[string]bool), 0
		for found := range s.pagesFrom("/?q=leaf+oak&site=oak.example", 20, func(n *html.Node) bool { return attr(n, "rel") == "next" }) {
			for _, title := range texts(t, found, element("h2")) {
				if seen[title] {
					t.Errorf("%q is on two pages", title)
				}
				seen[title] = true
			}
			pages++
		}
		if len(seen) != 61 || pages != 7 {
			t.Errorf("%d results on %d pages, want 61 on 7", len(seen), pages)
		}
	})
	t.Run("beyond the last page", func(t *testing.T) {
		if body := s.get("/?q=leaf+oak&site=oak.example&p=50"); !strings.Contains(body, `<a href="/?p=7&amp;q=leaf&#43;oak&amp;site=oak.example">Go to the last page</a>`) {
			t.Errorf("it does not lead back to the results:\n%s", body)
		}
	})
}

func TestSearchFilters(t *testing.T) {
	s := newStand(t, append(webs(t, "lighthouse", "bakery", "cjk"), many(60)...), nil)
	for _, target := range []string{"/?q=the&site=oak.example", "/?q=the&site=https%3A%2F%2Foak.example%2Fp%2F1"} {
		where := texts(t, s.get(target), class("where"))
		if len(where) == 0 || slices.ContainsFunc(where, func(w string) bool { return !strings.HasPrefix(w, "oak.example") }) {
			t.Errorf("%s shows %q", target, where)
		}
	}
	for _, target := range []string{"/?q=%E7%81%AF&lang=ja", "/?q=leaf&lang=en"} {
		if len(texts(t, s.get(target), element("h2"))) == 0 {
			t.Errorf("%s finds nothing", target)
		}
	}
	if got := texts(t, s.get("/?q=leaf&lang=fi"), element("h2")); len(got) != 1 || got[0] != "No page within these filters matches your search" {
		t.Errorf("no page is in Finnish, and there is %q", got)
	}
	t.Run("every kind of host", func(t *testing.T) {
		for _, site := range []string{"under_score.example", "-a.example", "[2001:db8::1]", "2001:db8::80", "[2001:DB8::1]:8080", "192.0.2.7:99", "bücher.example", "हिन्दी.example", "https://[::1]:8080/x"} {
			for _, path := range []string{"/?q=leaf&site=", "/api/query?q=leaf&site=", "/api/suggest?q=leaf&site="} {
				if a := s.do(path+url.QueryEscape(site), nil); a.status != http.StatusOK {
					t.Errorf("%s%s: %d", path, site, a.status)
				}
			}
		}
	})
}

func TestRefusedQueries(t *testing.T) {
	s := newStand(t, append(webs(t, "lighthouse"), many(60)...), nil)
	t.Run("bad requests", func(t *testing.T) {
		for _, target := range []string{
			"/?q=a&p=0", "/?q=a&p=x", "/?q=a&p=101", "/?q=a&site=no+host", "/?q=a&lang=%22", "/?q=" + strings.Repeat("a", 1001),
			"/doc", "/doc?url=javascript:alert(1)", "/doc?url=ftp://a.example/", "/doc?url=https://a.example/&in=0", "/copy?url=https://a.example/&at=-1",
		} {
			a := s.do(target, nil)
			if a.status != http.StatusBadRequest || a.header.Get("Content-Type") != "text/html; charset=utf-8" || !strings.Contains(a.body, "Back to search") {
				t.Errorf("%s: %d %s", target, a.status, a.header.Get("Content-Type"))
			}
		}
		if a := s.do("/no/such/page", nil); a.status != http.StatusNotFound {
			t.Errorf("status %d", a.status)
		}
		if a := s.do("/assets/", nil); a.status != http.StatusNotFound {
			t.Errorf("the list of files: status %d", a.status)
		}
	})
	t.Run("wrong queries", func(t *testing.T) {
		for q, why := range map[string]string{"-leaf": "The query only excludes; ", "site:": "<p>site: needs a host", "after:soon oak": "<p>after:soon is not a date"} {
			a := s.do("/?q="+url.QueryEscape(q), nil)
			if a.status != http.StatusBadRequest || !strings.Contains(a.body, "This query cannot be run") || !strings.Contains(a.body, why) || !strings.Contains(a.body, `value="`+q+`"`) {
				t.Errorf("%s: status %d\n%s", q, a.status, a.body)
			}
		}
	})
	t.Run("odd queries", func(t *testing.T) {
		for _, q := range []string{`"`, `-`, `"a" -"b" site:`, `()*^:{}`, "\x00\xff", `NEAR(a b)`, strings.Repeat(`"a `, 300), "site:oak.example", "-leaf"} {
			if a := s.do("/?q="+url.QueryEscape(q), nil); a.status != http.StatusOK && a.status != http.StatusBadRequest {
				t.Errorf("%q: status %d", q, a.status)
			}
		}
	})
}

// A search that finds too much from one host leads to the rest.
func TestMoreFromAHost(t *testing.T) {
	fetches := append(webs(t, "lighthouse"), many(60)...)
	for _, tree := range []string{"elm", "ash"} {
		html := "<title>Leaf of an oak and an " + tree + "</title><p>The leaf of an " + tree + " is not that of an oak." + strings.Repeat(" It is long and narrow, with many small teeth.", 12)
		fetches = append(fetches, fetched("https://"+tree+".example/", 1, html))
	}
	s := newStand(t, fetches, func(o *web.Options) { o.Query.PerHost = 2 })
	more := ""
	body := s.get("/?q=leaf+oak")
	for n := range elements(t, body) {
		if n.Data == "a" && textOf(n) == "More from oak.example" {
			more = attr(n, "href")
		}
	}
	if more == "" {
		t.Fatalf("there is no link More from oak.example:\n%s", body)
	}
	where := texts(t, s.get(more), class("where"))
	if len(where) != 10 || slices.ContainsFunc(where, func(w string) bool { return !strings.HasPrefix(w, "oak.example") }) {
		t.Errorf("%s shows %q", more, where)
	}
}

// Results have an order and explanations, and a query that is misspelt is corrected.
func TestSortedExplainedCorrected(t *testing.T) {
	s := newStand(t, []page.Fetch{
		fetched("https://a.example/", 2, "<title>Lanterns</title><p>Lanterns and lanterns."), fetched("https://b.example/", 3, "<title>Other things</title><p>One of them a lantern, among lanterns."), fetched("https://c.example/", 1, "<title>More lanterns</title><p>Lanterns of the coast."),
	}, nil)
	hosts := func(target string) string {
		return strings.Join(texts(t, s.get(target), class("where")), " ")
	}
	if got := hosts("/?q=lanterns&sort=date"); got != "b.example a.example c.example" {
		t.Errorf("the newest first are %s", got)
	}
	if got := hosts("/?q=lanterns"); strings.HasPrefix(got, "b.example") {
		t.Errorf("the best first are %s", got)
	}
	if body := s.get("/?q=lanterns&explain=1"); strings.Count(body, `class="reasons"`) != 3 || !strings.Contains(body, "Hide explanations") {
		t.Errorf("explanations:\n%s", body)
	}
	body := s.get("/?q=lantrens")
	if !strings.Contains(body, `Showing results for <a href="/?q=lanterns">`) || !strings.Contains(body, `Search instead for <a href="/?q=lantrens&amp;verbatim=1">`) || !strings.Contains(body, `class="result"`) {
		t.Errorf("no results of the right spelling:\n%s", body)
	}
	if !strings.Contains(body, `href="/?q=lanterns&amp;site=a.example"`) {
		t.Errorf("the facets do not narrow the query of the right spelling:\n%s", body)
	}
	body = s.get("/?q=lantrens&verbatim=1")
	if !strings.Contains(body, `Did you mean <a href="/?q=lanterns">`) || strings.Contains(body, `class="result"`) {
		t.Errorf("as typed:\n%s", body)
	}
	body = s.get("/?q=lantrens+OR&site=a.example&sort=date")
	if !strings.Contains(body, `<a href="/?q=lanterns&#43;OR&amp;site=a.example&amp;sort=date"><bdi>lanterns OR</bdi>`) {
		t.Errorf("within a filter:\n%s", body)
	}
	if got := hosts("/?q=lanterns+OR+things+OR&site=b.example"); got != "b.example" {
		t.Errorf("an OR at the end goes beyond the filter: %s", got)
	}
	body = s.get("/?q=lanterns+filetype:jpg")
	if !strings.Contains(body, `<li>Only HTML and plain text are indexed`) {
		t.Errorf("no note:\n%s", body)
	}
}

// justGone is an Inspector before the observers have seen that a page is gone.
type justGone struct{ web.Inspector }

func (i justGone) Inspect(ctx context.Context, u page.URL, w inspect.Windows, at snapshot.Moment) (*web.Details, error) {
	d, err := i.Inspector.Inspect(ctx, u, w, at)
	if err == nil {
		d.Status = http.StatusGone
	}
	return d, err
}

func TestDocumentPage(t *testing.T) {
	s := newStand(t, append(webs(t, "duplicates", "redirects"), many(60)...), nil)
	t.Run("lists have pages", func(t *testing.T) {
		seen := make(map[string]int)
		isNext := func(n *html.Node) bool {
			return strings.HasPrefix(textOf(n), "Next") && strings.HasSuffix(attr(n, "href"), "#out")
		}
		for body := range s.pagesFrom(doc("https://oak.example/"), 10, isNext) {
			for _, l := range texts(t, body, class("anchor")) {
				if strings.HasPrefix(l, "“leaf number") {
					seen[l]++
				}
			}
		}
		if len(seen) != 60 {
			t.Errorf("%d of 60 links were listed", len(seen))
		}
		if body := s.get(doc("https://oak.example/")); !strings.Contains(body, `Pages that link here <span class="count">60</span>`) {
			t.Error("it does not tell how many pages link to it")
		}
	})
	t.Run("beyond the end of a list", func(t *testing.T) {
		body := s.get(doc("https://oak.example/") + "&in=9&out=9&members=9")
		if strings.Count(body, ">Go to its last page</a>") != 3 {
			t.Errorf("the page does not say that its three lists are shorter:\n%s", body)
		}
	})
	t.Run("just gone", func(t *testing.T) {
		body := s.beside(func(o *web.Options) { o.Inspect = justGone{o.Inspect} }).get(doc("https://oak.example/"))
		if strings.Contains(body, ">Cached copy</a>") {
			t.Errorf("the page leads to a copy of what is gone:\n%s", body)
		}
	})
	t.Run("wide tables scroll with the keyboard", func(t *testing.T) {
		for _, from := range []string{doc("https://oak.example/"), "/help"} {
			body := s.get(from)
			all, reached := strings.Count(body, `<div class="scroll"`), strings.Count(body, `<div class="scroll" tabindex="0" role="region" aria-label="`)
			if all == 0 || reached != all {
				t.Errorf("%s: the keyboard reaches %d of %d boxes that scroll", from, reached, all)
			}
		}
	})
	t.Run("every link works", func(t *testing.T) {
		for _, from := range []string{doc("https://oak.example/"), "/?q=leaf", "/help"} {
			for _, l := range links(t, s.get(from)) {
				if strings.HasPrefix(l, "/") {
					s.get(l)
				} else if !strings.HasPrefix(l, "https://") && !strings.HasPrefix(l, "#") {
					t.Errorf("%s has a link to %q", from, l)
				}
			}
		}
	})
}

func TestDocumentPagesOfOtherURLs(t *testing.T) {
	s := newStand(t, webs(t, "redirects"), nil)
	t.Run("never seen", func(t *testing.T) {
		body := s.get(doc("nowhere.example/page")) // https is taken for granted
		if !strings.Contains(body, "https://nowhere.example/page") || !strings.Contains(body, "it was never fetched") || !strings.Contains(body, "unknown until it is fetched") {
			t.Errorf("%s", body)
		}
	})
	t.Run("never fetched successfully", func(t *testing.T) {
		broken := fetched("https://oak.example/broken", 1, "")
		broken.Status = http.StatusInternalServerError
		s.load(broken)
		body := s.get(doc(string(broken.URL)))
		if !strings.Contains(body, "<dd>HTTP status 500, at "+broken.Time.UTC().Format("2 Jan 2006, 15:04:05")+" UTC</dd>") {
			t.Errorf("it does not say when the fetch failed: %s", body)
		}
		if !strings.Contains(body, "Every fetch of this URL failed.") || strings.Contains(body, "has not been fetched yet") {
			t.Errorf("%s", body)
		}
	})
	t.Run("the title is in its language", func(t *testing.T) {
		foreign := newStand(t, webs(t, "cjk"), nil)
		body := foreign.get(doc("https://guide.example/ja/"))
		if got := texts(t, body, func(n *html.Node) bool { return n.Data == "bdi" && n.Parent.Data == "h1" && attr(n, "lang") == "ja" }); len(got) != 1 {
			t.Errorf("no heading in Japanese:\n%s", body)
		}
	})
	t.Run("redirects are followed to their end", func(t *testing.T) {
		from := ""
		for _, f := range webs(t, "redirects") {
			if d := page.Interpret(&f); d.Outcome == page.Redirect && from == "" {
				from = string(f.URL)
			}
		}
		if body := s.get(doc(from)); !strings.Contains(body, "<dt>Resolves to</dt>") {
			t.Errorf("the page of %s does not tell where it leads", from)
		}
	})
}

func TestVersionsAndCopies(t *testing.T) {
	const u = "https://news.example/"
	s := newStand(t, []page.Fetch{fetched(u, 1, "<title>Old</title><p>The old words of a page.")}, nil)
	s.load(fetched(u, 2, "<title>New</title><p>The new words of a page."))
	s.load(fetched(u, 3, "<title>New</title><p>The new words of a page.")) // nothing new
	body := s.get(doc(u))
	copies := []string{}
	for _, l := range links(t, body) {
		if strings.HasPrefix(l, "/view?at=") {
			copies = append(copies, l)
		}
	}
	if len(copies) != 2 {
		t.Fatalf("copies %q, want two versions:\n%s", copies, body)
	}
	for i, want := range []struct{ words, day string }{{"The new words", "2 Jan 2026"}, {"The old words", "1 Jan 2026"}} {
		frame := s.get(copies[i])
		if i == 1 && !strings.Contains(frame, want.day) {
			t.Errorf("version %d does not say that it is of %s", i, want.day)
		}
		var source string
		for n := range elements(t, frame) {
			if n.Data == "iframe" {
				source = attr(n, "src")
			}
		}
		for _, form := range []string{"", "&view=text", "&view=source"} {
			if got := s.get(source + form); !strings.Contains(got, want.words) {
				t.Errorf("version %d%s: %q", i, form, got)
			}
		}
	}
	if a := s.do("/copy?url=https://nowhere.example/", nil); a.status != http.StatusNotFound || !strings.Contains(a.body, "<p>There is no stored copy of https://nowhere.example/") {
		t.Errorf("a copy of nothing: status %d\n%s", a.status, a.body)
	}
}
