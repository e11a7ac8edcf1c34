package index

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
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
			Language: []string{"en", "de", "pt-br", "pt"}[i%4], FetchedAt: time.Date(2020+i%5, 12, 31, 23, 59, 0, 0, time.UTC).AddDate(0, -6*(i/5%2), 0),
		}
		if i%7 == 0 {
			d.Text = "rope"
		}
		if i%11 == 0 {
			d.Language = "" // which is no value
		}
		changes = append(changes, Upsert(d))
	}
	apply(t, w, changes...)
	r := openTestReader(t, dir)
	find := func(q string, facets bool) *search.Results {
		t.Helper()
		res, err := r.Search(t.Context(), q, search.Options{Facets: facets, Verbatim: true})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for _, q := range []string{"harbour", "rope", "harbour after:2022 before:2023-06", "harbour after:2021-09 before:2023-09", "rope lang:pt", "site:b.example", "harbour xylophone", "after:2021",
		"harbour -site:www.a.example -lang:de", "rope -filetype:txt", "harbours", "rope -harbours", "(site:b.example OR lang:pt) rope", "(rope -site:sub.b.example)"} {
		with, without := find(q, true), find(q, false)
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
		for _, list := range [][]search.Facet{f.Sites, f.Languages, f.Years, f.Types} {
			for _, v := range list {
				if n := find(query.Narrow(q, v.Filter), false).Total; n != v.Documents || n == 0 {
					t.Errorf("%s %s: %d documents, and the facet says %d", q, v.Filter, n, v.Documents)
				}
			}
		}
	}
	if f := find("xylophone", true).Facets; !reflect.DeepEqual(f, &search.Facets{Sites: []search.Facet{}, Languages: []search.Facet{}, Years: []search.Facet{}, Types: []search.Facet{}}) {
		t.Errorf("facets of nothing: %+v", f)
	}
}

// TestFacetsOfPartialMatches: documents without all the words of a long query also count, so that
// every value has documents, and the values are the same on all pages of a result.
func TestFacetsOfPartialMatches(t *testing.T) {
	w := openTestWriter(t, t.TempDir())
	var changes []Change
	add := func(n int, site, text string) {
		for range n {
			i := len(changes)
			changes = append(changes, Upsert(&Document{
				Cluster: key(fmt.Sprint(i)), Seq: 1, URL: page.URL(fmt.Sprintf("http://%s/%d.txt", site, i)), Language: "en",
				Title: "Page", Text: strings.ReplaceAll(text, "N", fmt.Sprint(i)),
			}))
		}
	}
	add(12, "all.example", "wooden rope salt harbour wordN")
	add(7, "part.example", "wooden rope salt") // which are one result
	add(5, "[2001:db8::80]", "wooden rope salt wordN")
	add(120, "many.example", "ferry wordN")
	add(12, "keel.example", "oak mast keel sail wordN")
	add(60, "few.example", "oak keel wordN")
	add(50, "sub.few.example", "oak keel wordN") // ten of which are not among the best hundred
	add(60, "small.example", "dinghy dinghy dinghy wordN")
	add(80, "large.example", "dinghy wordN") // forty of which are among the best hundred
	apply(t, w, changes...)
	r := openTestReader(t, w.dir)
	for q, want := range map[string]string{
		"wooden rope salt harbour": "[{all.example site:all.example 12} {part.example site:part.example 7} {2001:db8::80 site:2001:db8::80 5}]",
		"wooden":                   "[{all.example site:all.example 12} {part.example site:part.example 7} {2001:db8::80 site:2001:db8::80 5}]",
		"ferry":                    "[{many.example site:many.example 120}]",
		"oak mast keel sail":       "[{few.example site:few.example 100} {sub.few.example site:sub.few.example 40} {keel.example site:keel.example 12}]",
		"dinghy":                   "[{large.example site:large.example 80} {small.example site:small.example 60}]",
	} {
		var first *search.Facets
		for _, o := range []search.Options{{Limit: 1}, {Limit: 20}, {Offset: 20, Limit: 100}} {
			o.Facets = true
			res, err := r.Search(t.Context(), q, o)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(res.Facets.Sites); got != want {
				t.Errorf("%s at %d: sites %s, want %s", q, o.Offset, got, want)
			}
			if first == nil {
				first = res.Facets
			}
			if !reflect.DeepEqual(res.Facets, first) {
				t.Errorf("%s at %d: facets %+v, and on the first page %+v", q, o.Offset, res.Facets, first)
			}
		}
	}
}

// TestFacetYears: the six newest years are counted, the newest first.
func TestFacetYears(t *testing.T) {
	w := openTestWriter(t, t.TempDir())
	for year := 2018; year <= 2025; year++ {
		u := page.URL(fmt.Sprintf("http://a.example/%d", year))
		apply(t, w, Upsert(&Document{Cluster: key(string(u)), Seq: 1, URL: u, Text: "rope", FetchedAt: time.Date(year, 3, 1, 0, 0, 0, 0, time.UTC)}))
	}
	res, err := openTestReader(t, w.dir).Search(t.Context(), "rope", search.Options{Facets: true})
	if err != nil {
		t.Fatal(err)
	}
	var years []string
	for _, v := range res.Facets.Years {
		years = append(years, v.Value)
	}
	if got, want := strings.Join(years, " "), "2025 2024 2023 2022 2021 2020"; got != want {
		t.Errorf("years %s, want %s", got, want)
	}
}

// TestFacetsOfOtherWords: documents that only other words name also count, for values whose filters leave them.
func TestFacetsOfOtherWords(t *testing.T) {
	w := openTestWriter(t, t.TempDir())
	n := 0
	add := func(documents int, site, title, text string) {
		for range documents {
			u := page.URL(fmt.Sprintf("http://%s/%d.txt", site, n))
			apply(t, w, Upsert(&Document{Cluster: key(string(u)), Seq: 1, URL: u, Language: "en", Title: title, Text: fmt.Sprintf("%s word%d", text, n)}))
			n++
		}
	}
	add(1, "all.example", "Page", "delete a picture")
	add(6, "other.example", "Remove image", "something") // with site:other.example, nothing is found
	add(3, "some.example", "Page", "a picture")
	add(2, "some.example", "Remove image", "something")
	r := openTestReader(t, w.dir)
	find := func(q string) *search.Results {
		t.Helper()
		res, err := r.Search(t.Context(), q, search.Options{Facets: true})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := find("delete picture")
	f := res.Facets
	if got, want := fmt.Sprint(res.Total, f.Sites, f.Languages, f.Types), "12 [{some.example site:some.example 5} {all.example site:all.example 1}] [{en lang:en 12}] [{txt filetype:txt 12}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, v := range slices.Concat(f.Sites, f.Languages, f.Types) {
		if n := find("delete picture " + v.Filter).Total; n != v.Documents {
			t.Errorf("%s: %d documents, and the facet says %d", v.Filter, n, v.Documents)
		}
	}
	add(11, "all.example", "Page", "delete a picture") // so that the query needs no documents with some of the words
	res = find("delete picture")
	if got, want := fmt.Sprint(res.Total, res.Facets.Sites), "20 [{all.example site:all.example 12} {some.example site:some.example 2}]"; got != want {
		t.Errorf("with many documents that have all the words: %s, want %s", got, want)
	}
}
