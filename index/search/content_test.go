package search

import (
	"testing"

	"github.com/webindexer/indexer/index/sketch"
)

// TestContentFactor: pages with little to read count less, unless they are what is asked for.
func TestContentFactor(t *testing.T) {
	known := new(sketch.Sketch)
	for name, tt := range map[string]struct {
		candidate
		want float64
	}{
		"a text":                   {candidate{sketch: known, bins: telling, language: "en"}, 1},
		"no text":                  {candidate{sketch: known}, textlessFactor},
		"no text, but a name":      {candidate{sketch: known, anchorMatch: 0.5}, 1},
		"an unknown text":          {candidate{language: "en"}, 1},
		"no sentences":             {candidate{sketch: known, bins: telling}, proselessFactor},
		"too short to tell":        {candidate{sketch: known, bins: telling - 1}, 1},
		"no sentences, but a name": {candidate{sketch: known, bins: telling, anchorMatch: 0.5}, 1},
		"generated":                {candidate{sketch: known, bins: telling, language: "en", url: "https://a.example/genindex.html", anchorMatch: 0.5}, generatedFactor},
		"generated and asked for":  {candidate{sketch: known, bins: telling, language: "en", url: "https://a.example/genindex.html", titleMatch: 1}, 1},
	} {
		if got := (&search{language: "en"}).contentFactor(&tt.candidate); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	listing := candidate{sketch: known, bins: telling}
	if got := new(search).contentFactor(&listing); got != 1 {
		t.Errorf("no sentences, for a query in an unknown language: %v", got)
	}
}
