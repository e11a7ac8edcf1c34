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
