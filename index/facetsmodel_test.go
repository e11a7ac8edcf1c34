package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// TestFacetsLeaveWhatTheyCount searches random documents for words that have synonyms, are stop words
// of some languages, or are misspelled. The filter of each value finds at least the documents that the
// value counts. It may find more: a search with few documents that have all the words adds others.
func TestFacetsLeaveWhatTheyCount(t *testing.T) {
	rng := testenv.Random(t)
	words := strings.Fields("delete remove picture image account rope the how of die mail e-mail email pictur")
	asked := slices.Concat(words, strings.Fields("pictuer deleet accoount ropy"))
	text := func(words []string, most int) string {
		var list []string
		for range rng.IntN(most + 1) {
			list = append(list, words[rng.IntN(len(words))])
		}
		return strings.Join(list, " ")
	}
	for range testenv.Size(1, 2, 200) {
		w := openTestWriter(t, t.TempDir())
		sites := strings.Fields("a.example b.example c.example d.example sub.a.example")
		var changes []Change
		rich := rng.IntN(3)
		for i := range 20 + rng.IntN(60) {
			site := sites[rng.IntN(len(sites))]
			d := &Document{Cluster: key(fmt.Sprint(i)), Seq: 1, Language: []string{"en", "de", "fr", ""}[rng.IntN(4)], Title: text(words, 2)}
			d.URL = page.URL(fmt.Sprintf("https://%s/%d.%s", site, i, []string{"txt", "html", "pdf"}[rng.IntN(3)]))
			d.Text = fmt.Sprint(text(words, 3), " w", i)
			if site != "d.example" && rng.IntN(3) < rich {
				d.Text += " delete the picture account"
			}
			changes = append(changes, Upsert(d))
		}
		apply(t, w, changes...)
		r := openTestReader(t, w.dir)
		find := func(q string) *search.Results {
			res, err := r.Search(t.Context(), q, search.Options{Facets: true})
			if err != nil {
				t.Fatal(err)
			}
			return res
		}
		for range 40 {
			q := strings.TrimSpace("delete " + text(asked, 3))
			res := find(q)
			if res.ShowingFor != "" {
				q = res.ShowingFor
			}
			for _, v := range slices.Concat(res.Facets.Sites, res.Facets.Languages, res.Facets.Types, res.Facets.Years) {
				if n := find(query.Narrow(q, v.Filter)).Total; n < v.Documents || v.Documents == 0 {
					t.Errorf("%s %s: %d documents, and the facet says %d", q, v.Filter, n, v.Documents)
				}
			}
		}
	}
}
