package search

import (
	"testing"

	"github.com/webindexer/indexer/index/query"
)

// TestQueryLanguage: the language of the reader, unless the query says otherwise.
func TestQueryLanguage(t *testing.T) {
	for _, c := range []struct{ query, reader, want string }{
		{"harbour museum", "en", "en"}, {"harbour museum", "", ""}, {"harbour museum lang:fr", "en", ""},
		{"musée dans le port", "en", "fr"}, {"das museum am hafen und der turm", "en", "de"}, {"c compiler", "en", "en"},
		{"die hard", "en", "en"}, {"港の博物館", "en", ""}, {"the museum of the harbour", "pt-BR", "en"}, {"museum", "pt-BR", "pt"},
	} {
		q, err := query.Compile(c.query, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := queryLanguage(q, c.reader); got != c.want {
			t.Errorf("%q, reader of %q: %q, want %q", c.query, c.reader, got, c.want)
		}
	}
}

// TestPreferLanguage: pages known to be in another language count less, if some are in that of the query.
func TestPreferLanguage(t *testing.T) {
	for _, tt := range []struct {
		language string
		pages    []string
		want     []float64
	}{
		{"en", []string{"en", "en-gb", "de", ""}, []float64{1, 1, otherLanguage, 1}},
		{"en", []string{"fr", "de", ""}, []float64{1, 1, 1}},
		{"", []string{"en", "de"}, []float64{1, 1}},
	} {
		var list []candidate
		for i, language := range tt.pages {
			list = append(list, candidate{id: int64(i), score: 1, language: language})
		}
		(&search{language: tt.language}).preferLanguage(list)
		for _, c := range list {
			if want := tt.want[c.id]; c.score != want || c.otherLanguage != (want < 1) {
				t.Errorf("a query in %q, a page in %q: score %v, want %v", tt.language, c.language, c.score, want)
			}
		}
	}
}
