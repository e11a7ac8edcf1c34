package search

import (
	"testing"

	"github.com/webindexer/indexer/page"
)

// TestPreferSectionPages: the page of a directory with other candidates counts more if its title
// names what is asked for.
func TestPreferSectionPages(t *testing.T) {
	below := []string{"https://a.example/forms/one", "https://a.example/forms/two", "https://a.example/forms/deep/three"}
	for _, c := range []struct {
		name, url string
		title     float64
		front     bool
		others    []string
		want      float64
	}{
		{"a section", "https://a.example/forms/", 0.5, false, below, sectionMost},
		{"by its file", "https://a.example/forms/index.html", 0.5, false, below, sectionMost},
		{"a page that is asked for", "https://a.example/forms/", 0.9, false, below, 0},
		{"a title that says little", "https://a.example/forms/", 0.3, false, below, 0},
		{"few pages", "https://a.example/forms/", 0.5, false, below[:2], 0},
		{"other pages", "https://a.example/farms/", 0.5, false, below, 0},
		{"a page", "https://a.example/forms", 0.5, false, below, 0},
		{"a site", "https://a.example/", 0.5, false, below, 0},
		{"the front page that is asked for", "https://a.example/forms/", 0.5, true, below, 0},
		{"itself", "https://a.example/forms/", 0.5, false, append(below[:2:2], "https://a.example/forms/index.html"), 0},
	} {
		var list []candidate
		for _, u := range c.others {
			list = append(list, candidate{url: page.URL(u), score: 1.2})
		}
		list = append(list, candidate{url: page.URL(c.url), titleMatch: c.title, front: c.front, score: 1})
		new(search).preferSectionPages(list)
		for i := range list {
			if list[i].url != page.URL(c.url) {
				continue
			}
			if list[i].sectionFactor != c.want {
				t.Errorf("%s: factor %v, want %v", c.name, list[i].sectionFactor, c.want)
			}
			if first := i == 0; first != (c.want > 1) {
				t.Errorf("%s: at %d", c.name, i)
			}
		}
	}
}
