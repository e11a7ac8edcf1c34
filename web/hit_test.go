package web_test

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/webindexer/indexer/page"
)

const filler = "<p>The keeper of the light writes down what the wind does, every hour of the night, and what ships pass the rock in the meantime."

// manual is a manual in three versions, with sections, and a translation of one version.
func manual() (web []page.Fetch) {
	for _, v := range []string{"1.24", "1.25", "1.26"} {
		web = append(web, fetched("https://tool.example/docs/"+v+"/lamp.html", 1, `<html lang=en><title>Lamp manual</title><main><h1 id=top>Lamp manual</h1>`+filler+
			`<h2 id=oil>Filling the oil</h2><p>Pour the oil slowly in version `+v+`.<h2 id="the wick">Trimming the wick</h2><p>Cut the wick of the lamp straight.`+filler+`<h2 id="a&quot;b">Wick &lt;b&gt; sizes</h2><p>A table.</main>`))
	}
	return append(web,
		fetched("https://tool.example/de/handbuch.html", 1, `<html lang=de><title>Docht</title><main><p>Die Kerze und der Docht, und wie man beide pflegt. Der Wärter schreibt jede Stunde auf, was der Wind macht, und welche Schiffe vorbeifahren.</main>`),
		fetched("https://other.example/", 1, `<html lang=en><title>Docht</title><main><p>Docht is a name.`+filler+`</main>`))
}

func hrefs(t testing.TB, body string, within func(*html.Node) bool) (list []string) {
	t.Helper()
	for n := range elements(t, body) {
		if within(n) {
			for d := range n.Descendants() {
				if d.Data == "a" {
					list = append(list, attr(d, "href"))
				}
			}
		}
	}
	return list
}

func class(name string) func(*html.Node) bool {
	return func(n *html.Node) bool { return attr(n, "class") == name }
}

// A result shows the other versions of its page, leads to the section that answers, and
// keeps its rank for those who ask why.
func TestHits(t *testing.T) {
	s := newStand(t, manual(), nil)

	t.Run("versions", func(t *testing.T) {
		body := s.get("/?q=lamp+manual")
		if got := texts(t, body, element("h2")); len(got) != 1 || got[0] != "Lamp manual" {
			t.Errorf("results %q", got)
		}
		if got := texts(t, body, class("also")); len(got) != 1 || !strings.HasPrefix(got[0], "Also in 1.25, 1.24 ") {
			t.Errorf("other versions: %q", got)
		}
		if got := hrefs(t, body, class("also")); len(got) != 2 || got[0] != "https://tool.example/docs/1.25/lamp.html" {
			t.Errorf("links to other versions: %q", got)
		}
	})
	t.Run("sections", func(t *testing.T) {
		for _, c := range []struct{ query, first, rest string }{
			{"lamp", "lamp.html", ""},                                // the page as a whole
			{"lamp wick", "lamp.html#a%22b", "lamp.html#the%20wick"}, // escaped
			{"trimming wick", "lamp.html#the%20wick", "lamp.html#a%22b"},
			{"oil keeper", "lamp.html", "lamp.html#oil"}, // a heading has a part of the query
		} {
			body := s.get("/?q=" + strings.ReplaceAll(c.query, " ", "+"))
			first := hrefs(t, body, element("h2"))
			if len(first) == 0 || first[0] != "https://tool.example/docs/1.26/"+c.first {
				t.Errorf("%s leads to %q, want %s", c.query, first, c.first)
			}
			var rest []string
			for _, l := range hrefs(t, body, class("sections")) {
				rest = append(rest, strings.TrimPrefix(l, "https://tool.example/docs/1.26/"))
			}
			if got := strings.Join(rest, " "); got != c.rest {
				t.Errorf("%s: further sections %q, want %q", c.query, got, c.rest)
			}
		}
		if body := s.get("/?q=wick+sizes"); !strings.Contains(body, "Wick &lt;b&gt; sizes") {
			t.Errorf("the heading is not shown as text:\n%s", body)
		}
	})
	t.Run("why", func(t *testing.T) {
		for _, line := range texts(t, s.get("/?q=lamp"), element("summary")) {
			if strings.Contains(strings.ToLower(line), "rank") {
				t.Errorf("the line of the hit has %q", line)
			}
		}
		if body := s.get("/?q=lamp"); strings.Count(body, "<li>Rank ") != 1 || strings.Contains(body, "<details open>") {
			t.Errorf("the rank is not under the question why:\n%s", body)
		}
		if body := s.get("/?q=lamp&explain=1"); !strings.Contains(body, "<details open>") {
			t.Errorf("the explanation is folded:\n%s", body)
		}
	})
}

// Pages without a title are called by their own URLs, also by screen readers.
func TestHitsWithoutTitle(t *testing.T) {
	web := manual()
	for i := range web {
		web[i].Body = []byte(strings.Replace(string(web[i].Body), "<title>Lamp manual</title>", "", 1))
	}
	body := newStand(t, web, nil).get("/?q=lamp+manual")
	const of = "https://tool.example/docs/"
	for _, want := range []string{
		`<bdi>` + of + `1.25/lamp.html</bdi></a> <span>(1.25)</span>`,
		`Cached<span class="away"> copy of ` + of + `1.26/lamp.html</span>`,
		`Why this result<span class="away">: ` + of + `1.26/lamp.html</span>`,
		`Details<span class="away"> of ` + of + `1.26/lamp.html</span>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("there is no %s in\n%s", want, body)
		}
	}
}

// The reader's language is that of the browser, unless the request names another one.
func TestReader(t *testing.T) {
	s := newStand(t, manual(), nil)
	for _, c := range []struct{ target, accept, first string }{
		{"/?q=docht", "de-AT,de;q=0.8,en;q=0.5", "tool.example"},
		{"/?q=docht", "de;q=0.3,en", "other.example"},
		{"/?q=docht&reader=en", "de", "other.example"},
		{"/?q=docht&reader=de", "en", "tool.example"},
	} {
		a := s.do(c.target, func(r *http.Request) { r.Header.Set("Accept-Language", c.accept) })
		if got := texts(t, a.body, class("where")); len(got) != 2 || !strings.HasPrefix(got[0], c.first) {
			t.Errorf("%s for readers of %s: %q, want %s first", c.target, c.accept, got, c.first)
		}
	}
	for _, header := range []string{"*", ";;;", strings.Repeat("a-", 10_000), "mul", ""} {
		if a := s.do("/?q=docht", func(r *http.Request) { r.Header.Set("Accept-Language", header) }); a.status != http.StatusOK {
			t.Errorf("Accept-Language %.20q: status %d", header, a.status)
		}
	}
	if a := s.do("/?q=docht&reader=%22", nil); a.status != http.StatusBadRequest {
		t.Errorf("a reader of no language: status %d", a.status)
	}
	if body := s.get("/?q=docht&reader=any"); !strings.Contains(body, "reader=any") {
		t.Error("the links on the page lose the reader")
	}
}

// Sites on other ports of a host are told apart.
func TestPorts(t *testing.T) {
	s := newStand(t, []page.Fetch{fetched("http://elm.example:8080/leaf", 1, "<title>Leaf</title><p>The leaf of an elm.")}, nil)
	if got := texts(t, s.get("/?q=leaf"), class("where")); len(got) != 1 || got[0] != "elm.example:8080 › leaf" {
		t.Errorf("the address of the result is %q", got)
	}
}

// The links between pages of results have numbers.
func TestPageNumbers(t *testing.T) {
	s := newStand(t, many(60), nil)
	for target, want := range map[string]string{
		"/?q=leaf+oak&site=oak.example":     "Page 1 Page 2 Page 3 Page 4",
		"/?q=leaf+oak&site=oak.example&p=5": "Page 2 Page 3 Page 4 Page 5 Page 6 Page 7",
	} {
		body := s.get(target)
		got := texts(t, body, func(n *html.Node) bool { return n.Data == "li" && attr(n.Parent, "class") == "pages-of" })
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %s", target, got, want)
		}
	}
}

// Values next to the results narrow them, and lead back.
func TestFacets(t *testing.T) {
	web := append(many(12), fetched("https://elm.example/leaf.txt", 1, "<html lang=de><title>Das Blatt</title><p>Das leaf der Ulme, und was der Wind mit ihm macht, wenn es auf dem Boden liegt."))
	s := newStand(t, web, nil)
	follow := func(body, text string) string {
		t.Helper()
		for d := range elements(t, body) {
			if d.Data == "a" && strings.Join(strings.Fields(textOf(d)), " ") == text && attr(d.Parent.Parent.Parent.Parent, "class") == "facets" {
				return s.get(attr(d, "href"))
			}
		}
		t.Fatalf("there is no value %q beside the results:\n%s", text, body)
		return ""
	}
	all := s.get("/?q=leaf")
	for _, c := range []struct{ value, where, back string }{
		{"elm.example 1", "elm.example › leaf.txt", "elm.example ✕ remove this filter"},
		{"German 1", "elm.example › leaf.txt", "German ✕ remove this filter"},
		{"TXT 1", "elm.example › leaf.txt", "TXT ✕ remove this filter"},
	} {
		narrow := follow(all, c.value)
		if got := texts(t, narrow, class("where")); len(got) != 1 || got[0] != c.where {
			t.Errorf("%s leaves %q", c.value, got)
		}
		if wide := follow(narrow, c.back); len(texts(t, wide, class("where"))) != 10 {
			t.Errorf("removing %s does not lead back", c.value)
		}
	}
	if got := texts(t, s.get("/?q=leaf&year=2026"), class("where")); len(got) != 10 {
		t.Errorf("the year has %d results", len(got))
	}
	if got := texts(t, s.get("/?q=leaf&year=2025"), class("where")); len(got) != 0 {
		t.Errorf("the year before has %d results", len(got))
	}
	for _, target := range []string{"/?q=leaf&year=26", "/?q=leaf&type=a.b", "/api/query?q=leaf&facets=2"} {
		if a := s.do(target, nil); a.status != http.StatusBadRequest {
			t.Errorf("%s: status %d", target, a.status)
		}
	}
	if a := s.get("/api/query?q=leaf"); strings.Contains(a, "facets") {
		t.Error("the API counts facets that nobody asked for")
	}
	if a := s.get("/api/query?q=leaf&facets=1"); !strings.Contains(a, `{"value":"elm.example","filter":"site:elm.example","documents":1}`) {
		t.Errorf("no facets:\n%s", a)
	}
}
