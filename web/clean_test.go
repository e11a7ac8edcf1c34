package web

import (
	"strings"
	"testing"

	"github.com/webindexer/indexer/page"
)

// TestCrumbs: what people read above a title.
func TestCrumbs(t *testing.T) {
	for u, want := range map[page.URL]string{
		"https://a.example/":                     "",
		"https://a.example/docs/wick.html":       "docs > wick.html",
		"https://a.example/?q=1/2":               "?q=1/2",
		"https://a.example/docs?from=/a/b&to=/c": "docs?from=/a/b&to=/c",
		"https://a.example/a%20b/stra%C3%9Fe/":   "a b > straße",
		"https://a.example/a/b/c/d/e?x=y/z":      "a > b > … > e?x=y/z",
		"https://a.example/%FF":                  "%FF",
	} {
		if got := strings.Join(crumbs(u), " > "); got != want {
			t.Errorf("%s: %q, want %q", u, got, want)
		}
	}
}

// TestSentence: what is wrong, as an error page says it.
func TestSentence(t *testing.T) {
	for text, want := range map[string]string{
		"the request took too long":     "The request took too long.",
		"site: needs a host":            "site: needs a host.",
		"add ?url=https://example.org/": "Add ?url=https://example.org/",
		"über alles":                    "Über alles.",
	} {
		if got := sentence(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestCleanMarks: marks that pile up are cut, and letters that need several keep them.
func TestCleanMarks(t *testing.T) {
	pile := strings.Repeat("\u0310", 40)
	for text, want := range map[string]string{
		"Z" + pile + "a" + pile + "lgo":                     "Z" + pile[:8] + "a" + pile[:8] + "lgo",
		"\u20dd\u0310\u0310\u0310\u0310\u20dd":              "\u20dd\u0310\u0310\u0310",
		"a" + strings.Repeat("\u0310\u0310\u0310\u200e", 2): "a" + pile[:8],
		"phơ\u0302\u0309":                                   "phơ\u0302\u0309",
		"\u05d1\u05bc\u05b0\u05e8\u05b5":                    "\u05d1\u05bc\u05b0\u05e8\u05b5",
	} {
		if got := clean(text, maxTitle); got != want {
			t.Errorf("%+q: %+q, want %+q", text, got, want)
		}
	}
}
