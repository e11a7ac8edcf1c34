package index

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// TestProminent: the page about a whole module is found, although more pages of the module than there
// are candidates have its name, and say it better.
func TestProminent(t *testing.T) {
	dir := t.TempDir()
	const overview = "https://widget.org/manual/parts"
	ops := []Change{
		Upsert(&Document{Cluster: key("all"), Seq: 1, URL: overview, Title: "Working with old and new pieces (tool.parts)", Text: "Parts: " + strings.Repeat("much is told here about much else. ", 40), Rank: 30}),
		Upsert(&Document{Cluster: key("other"), Seq: 1, URL: "https://widget.org/manual/", Title: "Manual", Text: "What a tool is, and about its parts.", Rank: 90}),
	}
	for i := range 3 * ranked {
		ops = append(ops, Upsert(&Document{Cluster: key(fmt.Sprint(i)), Seq: 1, URL: page.URL(fmt.Sprintf("https://widget.org/manual/parts/%d", i)),
			Title: fmt.Sprintf("tool.parts.name%d", i), Text: "Of the parts of the tool, it is one of the parts.", Rank: 0.3}))
	}
	apply(t, openTestWriter(t, dir), ops...)
	r := openTestReader(t, dir)
	for query, want := range map[string]string{
		"tool parts":       overview,
		"tool parts name7": "https://widget.org/manual/parts/7",
	} {
		for _, limit := range []int{1, 10, 150} {
			res, err := r.Search(t.Context(), query, search.Options{Limit: limit, Unfold: true})
			if err != nil || len(res.Hits) == 0 || string(res.Hits[0].URL) != want {
				t.Errorf("%q, %d hits: %+v, %v; want %s first", query, limit, res.Hits[:min(1, len(res.Hits))], err, want)
			}
			seen := make(map[page.URL]bool)
			for _, h := range res.Hits {
				if seen[h.URL] {
					t.Errorf("%q: %s twice", query, h.URL)
				}
				seen[h.URL] = true
			}
		}
	}
}
