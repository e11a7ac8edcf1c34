package index

import (
	"testing"

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
		res, err := r.Search(t.Context(), q, Options{Explain: true, Unfold: true})
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
