package index

import (
	"testing"

	"github.com/webindexer/indexer/index/search"
)

// TestFrontPage: the name of a host alone finds its front page first, with more words it is a word
// like others, and no other page of the host, nor an address like the name, gains by it.
func TestFrontPage(t *testing.T) {
	dir := t.TempDir()
	apply(t, openTestWriter(t, dir),
		Upsert(&Document{Cluster: key("front"), Seq: 1, URL: "https://www.widget.example/", Title: "Widget, made by hand since 1950", Text: "Our widget turns."}),
		Upsert(&Document{Cluster: key("manual"), Seq: 1, URL: "https://www.widget.example/manual", Title: "Widget manual", Text: "How a widget turns, and how a widget is mended."}),
		Upsert(&Document{Cluster: key("other"), Seq: 1, URL: "https://press.example/widget", Title: "The widget", Text: "A widget, a widget, a widget."}),
	)
	r := openTestReader(t, dir)
	for query, want := range map[string]string{
		"widget":        "https://www.widget.example/",
		"Widget":        "https://www.widget.example/",
		"widget manual": "https://www.widget.example/manual",
		"the widget":    "https://press.example/widget",
		"press":         "https://press.example/widget",
	} {
		res, err := r.Search(t.Context(), query, search.Options{})
		if err != nil || len(res.Hits) == 0 || string(res.Hits[0].URL) != want {
			t.Errorf("%q: %+v, %v; want %s first", query, res.Hits, err, want)
		}
	}
}
