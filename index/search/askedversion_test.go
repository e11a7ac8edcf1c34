package search

import (
	"cmp"
	"testing"

	"github.com/webindexer/indexer/page"
)

// TestPreferVersion: where the address of a candidate names the version that the query names, those of
// other versions on its host count less. The factor is 0 if it was not looked at.
func TestPreferVersion(t *testing.T) {
	for _, tt := range []struct {
		query string
		pages map[page.URL]float64
	}{
		{"tool 1.26", map[page.URL]float64{
			"https://a.example/1.26/x": 1, "https://a.example/1.26.0/x": 1, "https://a.example/1.26.3/x": itsRelease, "https://a.example/1.25/x": otherVersion,
			"https://a.example/x": 1, "https://a.example/latest/x": 1, "https://b.example/1.25/x": 1,
			"https://c.example/1.25/x": 1, "https://c.example/named": 1, // by its title
			"https://a.example/other": 1, // by its title as well
		}},
		{"tool 1.27", map[page.URL]float64{"https://a.example/1.26/x": 0}},
		{"tool latest", map[page.URL]float64{"https://a.example/1.26/x": 0, "https://a.example/latest/x": 0}},
	} {
		var list []candidate
		for u := range tt.pages {
			title := map[string]string{"/named": "Tool 1.26", "/other": "Tool 1.25"}[u.Path()]
			list = append(list, candidate{url: u, score: 1, key: makePageKey(u, title, "en")})
		}
		s := search{versions: askedVersions(tt.query)}
		s.preferVersion(list)
		for _, c := range list {
			if want := tt.pages[c.url]; c.versionFactor != want || c.score != cmp.Or(want, 1) {
				t.Errorf("%s: %s has factor %v and score %v, want %v", tt.query, c.url, c.versionFactor, c.score, want)
			}
		}
	}
}
