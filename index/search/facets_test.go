package search

import (
	"testing"

	"github.com/webindexer/indexer/page"
)

// TestSiteOf: site: with the site of a page finds that page, and not those of a whole domain.
func TestSiteOf(t *testing.T) {
	for u, want := range map[page.URL]string{
		"https://www.a.example/": "a.example", "https://a.example:8080/": "a.example", "https://www.com/": "www.com", "https://www.www.com/": "www.com",
		"https://localhost/": "localhost", "https://127.0.0.1/": "127.0.0.1", "https://[2001:db8::1]:8080/": "2001:db8::1",
	} {
		if got := siteOf(&candidate{url: u}); got != want {
			t.Errorf("%s: %q, want %q", u, got, want)
		}
	}
}

// TestTopFacets: the most frequent values, and not the documents without one.
func TestTopFacets(t *testing.T) {
	counts := map[string]int{"": 20, "en": 2, "de": 5}
	if got := topFacets(false, "lang:", counts); len(got) != 2 || got[0] != (Facet{"de", "lang:de", 5}) || got[1] != (Facet{"en", "lang:en", 2}) {
		t.Errorf("%v", got)
	}
	if got := topFacets(true, "lang:", counts); got == nil || len(got) > 0 {
		t.Errorf("of a narrowed query: %v", got)
	}
}
