package index

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/page"
)

// Every facet counts the documents that its filter leaves.
func TestFacets(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	var changes []Change
	for i := range 60 {
		d := &Document{
			Cluster: key(fmt.Sprint("d", i)), Seq: 1, Title: fmt.Sprint("Rope ", i), Text: "harbour rope",
			URL:      page.URL(fmt.Sprintf("https://%s.example/%d%s", []string{"www.a", "b", "sub.b"}[i%3], i, []string{"", ".txt"}[i%2])),
			Language: []string{"en", "de", "pt-br", "pt"}[i%4], FetchedAt: time.Date(2020+i%5, 12, 31, 23, 59, 0, 0, time.UTC),
		}
		if i%7 == 0 {
			d.Text = "rope"
		}
		changes = append(changes, Upsert(d))
	}
	apply(t, w, changes...)
	r := openTestReader(t, dir)
	search := func(q string, facets bool) *Results {
		t.Helper()
		res, err := r.Search(t.Context(), q, Options{Facets: facets, Verbatim: true})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for _, q := range []string{"harbour", "rope", "harbour after:2022 before:2023-06", "rope lang:pt", "site:b.example", "harbour xylophone", "after:2021",
		"harbour -site:www.a.example -lang:de", "rope -filetype:txt", "(site:b.example OR lang:pt) rope", "(rope -site:sub.b.example)"} {
		with, without := search(q, true), search(q, false)
		f := with.Facets
		if without.Facets != nil {
			t.Errorf("%s: facets that nobody asked for", q)
		}
		with.Facets, with.TookMS, without.TookMS = nil, 0, 0
		if !reflect.DeepEqual(with, without) {
			t.Errorf("%s: facets change the result", q)
		}
		if f.AtLeast || len(f.Sites) == 0 != query.NarrowedBy(q).Site || len(f.Languages) == 0 != query.NarrowedBy(q).Lang || len(f.Years) == 0 || len(f.Types) == 0 {
			t.Fatalf("%s: %+v", q, f)
		}
		for _, list := range [][]Facet{f.Sites, f.Languages, f.Years, f.Types} {
			for _, v := range list {
				if n := search(query.Narrow(q, v.Filter), false).Total; n != v.Documents {
					t.Errorf("%s %s: %d documents, and the facet says %d", q, v.Filter, n, v.Documents)
				}
			}
		}
	}
	if f := search("xylophone", true).Facets; !reflect.DeepEqual(f, &Facets{Sites: []Facet{}, Languages: []Facet{}, Years: []Facet{}, Types: []Facet{}}) {
		t.Errorf("facets of nothing: %+v", f)
	}
}
