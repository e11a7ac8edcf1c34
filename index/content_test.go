package index

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// TestFragments: a page without a text comes after one that has the words in its text, though
// its title says more, and is found all the same.
func TestFragments(t *testing.T) {
	w := openTestWriter(t, t.TempDir())
	doc := func(name, title, text string) Change {
		return Upsert(&Document{Cluster: key(name), Seq: 1, URL: "https://harbour.example/" + page.URL(name), Title: title, Text: text, Language: "en"})
	}
	apply(t, w,
		doc("includes/header", "Harbour", ""),
		doc("start", "Harbour", "The harbour, its lighthouse and its museum."),
		doc("lamp", "Lamp", ""))
	r := openTestReader(t, w.dir)
	for q, want := range map[string][]string{"harbour": {"start", "includes/header", "lamp"}, "lamp": {"lamp"}} {
		res, err := r.Search(t.Context(), q, search.Options{Explain: true, Unfold: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Hits) != len(want) {
			t.Fatalf("%s: %d hits", q, len(res.Hits))
		}
		for i, h := range res.Hits {
			e := h.Explanation
			if h.URL != "https://harbour.example/"+page.URL(want[i]) || len(want) > 1 && (e.ContentFactor < 1) != (want[i] != "start") {
				t.Errorf("%s: hit %d is %s, content factor %v", q, i+1, h.URL, e.ContentFactor)
			}
		}
	}
}

// TestPagesWithoutSentences: the index of a manual, which has no recognisable language, comes
// after a chapter that fits a little less, and first if nothing else fits.
func TestPagesWithoutSentences(t *testing.T) {
	w := openTestWriter(t, t.TempDir())
	var list strings.Builder
	for i := range 200 {
		fmt.Fprintf(&list, "anchor_%d, buoy_%d, ", i, i)
	}
	chapter := "To drop the anchor, turn the boat into the wind, stop it, and let the chain run out. The anchor holds if the chain lies on the ground. " +
		"Do not drop it in front of the quay: other boats need that place, and their anchors would pull yours out of the ground."
	doc := func(name, text, language string) Change {
		return Upsert(&Document{Cluster: key(name), Seq: 1, URL: "https://harbour.example/" + page.URL(name), Title: name, Text: text, Language: language})
	}
	apply(t, w, doc("index", "anchor, drop anchor, "+list.String()+"drop anchor", ""), doc("chapter", chapter, "en"))
	r := openTestReader(t, w.dir)
	for _, c := range []struct {
		query, reader string
		want          []string
		factor        float64
	}{
		{"drop anchor", "en", []string{"chapter", "index"}, 0.6},
		{"buoy_77", "en", []string{"index"}, 1},
		{"drop anchor", "", nil, 1},
	} {
		res, err := r.Search(t.Context(), c.query, search.Options{Explain: true, Language: c.reader})
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range res.Hits {
			name := strings.TrimPrefix(string(h.URL), "https://harbour.example/")
			if c.want != nil && name != c.want[i] {
				t.Errorf("%s: hit %d is %s", c.query, i+1, name)
			}
			if got := h.Explanation.ContentFactor; name == "index" && got != c.factor || name == "chapter" && got != 1 {
				t.Errorf("%s: content factor of %s is %v", c.query, name, got)
			}
		}
	}
}
