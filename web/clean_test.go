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
