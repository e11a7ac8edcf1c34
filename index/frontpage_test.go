package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/page"
)

func TestHostLabels(t *testing.T) {
	for host, want := range map[string]string{
		"widget.example":           "widget",
		"docs.widget.org":          "docs widget",
		"Docs.Widget.co.uk":        "docs widget",
		"widget.readthedocs.io":    "widget",
		"widget.example.org:8080":  "widget example",
		"localhost":                "localhost",
		"co.uk":                    "co uk",
		"xn--bcher-kva.example:80": "xn--bcher-kva",
		"192.168.1.10":             "192.168.1.10",
		"192.168.1.10:8080":        "192.168.1.10:8080",
		"[2001:db8::1]":            "[2001:db8::1]",
		"[2001:db8::1]:80":         "[2001:db8::1]:80",
	} {
		if got := strings.Join(hostLabels(host), " "); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}

func TestNamesSite(t *testing.T) {
	for _, tt := range []struct{ query, host, want string }{
		{"widget", "widget.example.org", "[]"},
		{"widget", "docs.widget.org", "[]"},
		{"widget docs", "docs.widget.org", "[]"},
		{"docs", "docs.widget.org", "no"},
		{"docs", "docs.org", "[]"},
		{"example widget", "widget.example.org", "[]"},
		{"widget home page", "widget.org", "[]"},
		{"widget 1.2 documentation", "widget.org", "[1 2 documentation]"},
		{"the widget", "widget.org", "[the]"},
		{"wid get", "widget.org", "[]"},
		{"blue wid get", "widget.org", "[blue]"},
		{"git", "git-scm.com", "[]"},
		{"git scm", "git-scm.com", "[]"},
		{"git-scm", "git-scm.com", "[]"},
		{"scm", "git-scm.com", "no"},
		{"django", "docs.djangoproject.com", "[]"},
		{"node js", "nodejs.org", "[]"},
		{"node.js", "nodejs.org", "[]"},
		{"go", "golang.org", "no"}, // too short for the beginning of a name
		{"wid", "widget.org", "no"},
		{"example", "widget.example.org", "no"},
		{"org", "widget.org", "no"},
		{"192", "192.168.1.10", "no"},                              // a number is no name
		{"one two three four five six widget", "widget.org", "no"}, // too many words for a name
	} {
		c, err := query.Compile(tt.query, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		got := "no"
		if rest, ok := namesSite(c.Words, tt.host); ok {
			typed := []string{}
			for _, w := range rest {
				typed = append(typed, w.Typed)
			}
			got = fmt.Sprint(typed)
		}
		if got != tt.want {
			t.Errorf("%q names %s: %s, want %s", tt.query, tt.host, got, tt.want)
		}
	}
}

func TestFrontCandidates(t *testing.T) {
	list := []candidate{
		{url: "https://docs.widget.org/en/1.2/guide/turn.html?page=a/b"},
		{url: "https://docs.widget.org/en/1.2/"},
		{url: "https://other.org/a/"},
		{url: "http://docs.widget.org/x"},
	}
	want := []string{
		"http://docs.widget.org/", "http://docs.widget.org/index.html",
		"https://docs.widget.org/", "https://docs.widget.org/index.html",
		"https://docs.widget.org/en/", "https://docs.widget.org/en/index.html",
		"https://docs.widget.org/en/1.2/", "https://docs.widget.org/en/1.2/index.html",
		"https://docs.widget.org/en/1.2/guide/", "https://docs.widget.org/en/1.2/guide/index.html",
	}
	if got := frontCandidates("docs.widget.org", list); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	list = nil
	for i := range 1000 {
		list = append(list, candidate{url: page.URL(fmt.Sprintf("https://widget.org/%d/page", i))})
	}
	if got := frontCandidates("widget.org", list); len(got) != frontAddresses || got[0] != "https://widget.org/" {
		t.Errorf("%d addresses, the first is %s", len(got), got[0])
	}
}

// TestDirectoryOfOnePage: a page with a short address of its own is not the front page of a site
// whose root is unknown, whatever the rest of the site is.
func TestDirectoryOfOnePage(t *testing.T) {
	list := []candidate{
		{url: "https://widget.org/legal/"},
		{url: "https://widget.org/law/index.html"},
		{url: "https://widget.org/guide/"},
		{url: "https://widget.org/guide/turn/"},
	}
	want := []string{
		"https://widget.org/", "https://widget.org/index.html",
		"https://widget.org/guide/", "https://widget.org/guide/index.html",
	}
	if got := frontCandidates("widget.org", list); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if got := frontCandidates("widget.org", list[:1]); len(got) != 4 || got[2] != "https://widget.org/legal/" {
		t.Errorf("the only page that answers the query may be at %q", got)
	}

	dir := t.TempDir()
	doc := func(u, title, text string) Change {
		return Upsert(&Document{Cluster: key(u), Seq: 1, URL: page.URL(u), Title: title, Text: text})
	}
	ops := []Change{doc("https://widget.org/legal/", "Imprint", "It is a widget. "+strings.Repeat("The law is long. ", 60))}
	for i := range 9 {
		ops = append(ops, doc(fmt.Sprintf("https://widget.org/how-to-turn-it-%d/", i), "Widget", "A widget turns."))
	}
	apply(t, openTestWriter(t, dir), ops...)
	res, err := openTestReader(t, dir).Search(t.Context(), "widget", Options{Limit: 10})
	if err != nil || len(res.Hits) == 0 || res.Hits[0].URL == "https://widget.org/legal/" {
		t.Errorf("found %+v, %v", res.Hits, err)
	}
}

// TestFrontPageOfMany: the front page is found although a hundred pages come before it by text, and
// so is one that does not say of itself that it is a home page. It is not shown to a query that it
// does not answer, or that is restricted to other pages.
func TestFrontPageOfMany(t *testing.T) {
	dir := t.TempDir()
	ops := []Change{
		Upsert(&Document{Cluster: key("front"), Seq: 1, URL: "https://docs.widget.org/en/1.2/", Title: "Documentation", Text: "All about the widget, and about much else: " + strings.Repeat("turns and mends and paints. ", 40)}),
		Upsert(&Document{Cluster: key("deep"), Seq: 1, URL: "https://docs.widget.org/en/1.2/a/", Title: "Widget", Text: "A widget."}),
	}
	for i := range 2 * rerankTop {
		ops = append(ops, Upsert(&Document{Cluster: key(fmt.Sprint(i)), Seq: 1, URL: page.URL(fmt.Sprintf("https://docs.widget.org/en/1.2/a/%d.html", i)), Title: fmt.Sprintf("Part %d, widget", i), Text: "A part of a widget, at home on a page."}))
	}
	apply(t, openTestWriter(t, dir), ops...)
	r := openTestReader(t, dir)
	for query, want := range map[string]string{
		"widget":               "https://docs.widget.org/en/1.2/",
		"widget documentation": "https://docs.widget.org/en/1.2/",
		"widget home page":     "https://docs.widget.org/en/1.2/",
		"widget inurl:a":       "https://docs.widget.org/en/1.2/a/",
		"part 7 widget":        "https://docs.widget.org/en/1.2/a/7.html",
	} {
		for _, limit := range []int{1, 10, 150} {
			res, err := r.Search(t.Context(), query, Options{Limit: limit, Unfold: true})
			if err != nil || len(res.Hits) == 0 || string(res.Hits[0].URL) != want {
				t.Errorf("%q, %d hits: %+v, %v; want %s first", query, limit, res.Hits[:min(1, len(res.Hits))], err, want)
			}
			seen := make(map[string]bool)
			for _, h := range res.Hits {
				if seen[string(h.URL)] {
					t.Errorf("%q: %s twice", query, h.URL)
				}
				seen[string(h.URL)] = true
			}
		}
	}
}

// TestFrontPageOfFew: a front page without all the words joins the first tier, and changes nothing
// about the second one: that is sorted by titles as well, and folded. With Options.Verbatim it does
// not join.
func TestFrontPageOfFew(t *testing.T) {
	dir := t.TempDir()
	text := "Each widget turns. " + strings.Repeat("It mends and paints what nobody has turned before. ", 20)
	var ops []Change
	for u, d := range map[string]Document{
		"https://widget.org/":                {Title: "Documentation", Text: "All about the widget, and about much else. " + text},
		"https://widget.org/all":             {Title: "Turning", Text: "At home on a page: a widget."},
		"https://other.org/1.2/guide/turn":   {Title: "Guide", Text: text},
		"https://other.org/1.3/guide/turn":   {Title: "Guide", Text: text},
		"https://third.org/blue-widget-page": {Title: "Widget page", Text: strings.Repeat("Much else is told. ", 60)},
	} {
		d.Cluster, d.Seq, d.URL = key(u), 1, page.URL(u)
		ops = append(ops, Upsert(&d))
	}
	apply(t, openTestWriter(t, dir), ops...)
	r := openTestReader(t, dir)
	const front = "https://widget.org/"
	res, err := r.Search(t.Context(), "widget home page", Options{Limit: 10, Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, h := range res.Hits {
		found = append(found, string(h.URL))
	}
	want := []string{front, "https://widget.org/all", "https://third.org/blue-widget-page", "https://other.org/1.3/guide/turn"}
	if !slices.Equal(found, want) || res.Total != 5 || res.AllWords != 1 {
		t.Errorf("found %q, %d of %d with all words\nwant %q", found, res.AllWords, res.Total, want)
	}
	res, err = r.Search(t.Context(), "widget home page", Options{Limit: 10, Verbatim: true})
	if err != nil || res.Hits[0].URL == front {
		t.Errorf("verbatim: first %s, %v", res.Hits[0].URL, err)
	}
}
