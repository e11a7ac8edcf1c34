package web

import (
	"testing"

	"github.com/webindexer/indexer/index/search"
)

// TestAlsoSummary: the line that opens the list of what is folded into a result says nothing twice.
func TestAlsoSummary(t *testing.T) {
	for _, c := range []struct {
		labels []string
		want   string
	}{
		{[]string{"2.2", "fr"}, "Also in 2.2, French"},
		{[]string{"2.2", "en", "en"}, "Also in 2.2, English and 1 more"},
		{[]string{"2.4, de", "2.2, de", "fr", "ja"}, "Also in 2.4 German, 2.2 German, French and 1 more"},
		{[]string{""}, "1 other version"},
	} {
		h := hitView{Hit: &search.Hit{}}
		for _, l := range c.labels {
			h.Hit.Also = append(h.Hit.Also, search.Also{URL: "https://a.example/" + l, Label: l})
		}
		h.showAlso()
		if got := h.AlsoSummary(); got != c.want {
			t.Errorf("%q: %q, want %q", c.labels, got, c.want)
		}
	}
}
