package search

import (
	"testing"

	"github.com/webindexer/indexer/index/sketch"
	"github.com/webindexer/indexer/page"
)

// TestWaits: whether other pages show that the page at guide.ro.html, which is in English, waits for
// its translation.
func TestWaits(t *testing.T) {
	of := func(path, title, language string, text byte) candidate {
		u := page.URL("https://a.example/" + path)
		c := candidate{url: u, title: title, language: language, key: makePageKey(u, title, language)}
		var s sketch.Sketch
		for i := range s {
			s[i] = text
		}
		c.sketched(&Sketched{Sketch: s[:]})
		return c
	}
	english := of("guide.en.html", "The guide", "en", 1)
	german := of("guide.de.html", "Handbuch", "de", 2)
	for name, tt := range map[string]struct {
		others []candidate
		want   bool
	}{
		"no other":                           {nil, false},
		"the same title":                     {[]candidate{of("guide.en.html", "Guide", "en", 1)}, true},
		"the same text":                      {[]candidate{of("guide.en.html", "The guide", "en", 9)}, true},
		"another title and text":             {[]candidate{english}, false},
		"two languages":                      {[]candidate{english, german}, true},
		"one language in two regions":        {[]candidate{english, of("guide.en-GB.html", "A guide", "en-gb", 2)}, false},
		"the same title in another language": {[]candidate{of("guide.de.html", "Guide", "de", 1)}, false},
		"another version":                    {[]candidate{of("1.2/guide.en.html", "Guide", "en", 9)}, false},
		"another page":                       {[]candidate{of("notes.en.html", "Guide", "en", 9)}, false},
		"one that waits itself":              {[]candidate{of("guide.tr-TR.html", "Guide", "en", 9)}, false},
		"an address that names no language":  {[]candidate{of("guide.html", "Guide", "en", 9)}, false},
	} {
		c := of("guide.ro.html", "Guide", "en", 9)
		if got := c.waits(tt.others); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
		half := len(tt.others) / 2
		if got := c.waits(tt.others[:half], tt.others[half:]); got != tt.want {
			t.Errorf("%s, in two lists: %v", name, got)
		}
	}
}
