package search

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/analysis"
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
		{"192", "192.168.1.10", "no"},                              // a number is not a name
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
	list = []candidate{{url: "https://widget.org/documentation/turn"}, {url: "https://widget.org/up/down/turn"}}
	want = nil
	for _, dir := range []string{"", "up/", "documentation/", "up/down/"} { // by depth, then by length
		want = append(want, "https://widget.org/"+dir, "https://widget.org/"+dir+"index.html")
	}
	if got := frontCandidates("widget.org", list); !slices.Equal(got, want) {
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

// TestDirectoriesOfOnePage: a page with a short address of its own is not the front page of a site.
func TestDirectoriesOfOnePage(t *testing.T) {
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
}

// TestTitleHas: all of the words, in any form.
func TestTitleHas(t *testing.T) {
	for words, want := range map[string]bool{"manual": true, "manuals": true, "manual widget": true, "manual of doors": false, "doors": false} {
		c, err := query.Compile(words, []*analysis.Stemmer{analysis.StemmerFor("en")}, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := titleHas(&candidate{title: "The Widget Manual", language: "en"}, c.Words); got != want {
			t.Errorf("%s: %v", words, got)
		}
	}
}
