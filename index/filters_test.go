package index

import (
	"fmt"
	"testing"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// TestFilters: each offered filter is in the index, and its number is that of the documents
// that a search with it finds.
func TestFilters(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	seq := uint64(0)
	doc := func(u page.URL, lang string) {
		seq++
		apply(t, w, Upsert(&Document{Cluster: key(string(u)), Seq: seq, URL: u, Language: lang, Title: "rope"}))
	}
	r := openTestReader(t, dir)
	if f, err := r.Filters(t.Context()); err != nil || len(f.Sites)+len(f.Languages) > 0 {
		t.Errorf("of nothing: %+v, %v", f, err)
	}
	for i, u := range []page.URL{
		"https://docs.example.org/1", "https://docs.example.org/2", "https://www.example.org/", "https://example.org/x", // one site in parts
		"https://only.sub.example/",                                                  // one site, of which there is one part
		"https://www.coast.co.uk/", "http://localhost:8080/", "http://127.0.0.1:99/", // suffixes, ports, addresses
		"http://[2001:db8::80]/1", "http://[2001:db8::80]:8080/2", "http://[2001:db8::5]:99/",
		"https://gone.example/",
	} {
		doc(u, []string{"en", "en", "pt-br", "pt", "de-at", "", "en", "en", "", "", "", "it"}[i])
	}
	seq++
	apply(t, w, Delete(key("https://gone.example/"), seq))
	f, err := r.Filters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := "[{example.org 4} {2001:db8::80 2} {docs.example.org 2} {127.0.0.1:99 1} {[2001:db8::5]:99 1} {[2001:db8::80]:8080 1} {coast.co.uk 1} {localhost:8080 1} {only.sub.example 1}]"
	if got := fmt.Sprint(f.Sites); got != want {
		t.Errorf("sites %s\nwant  %s", got, want)
	}
	if got, want := fmt.Sprint(f.Languages), "[{en 4} {pt 2} {de 1} {pt-br 1}]"; got != want {
		t.Errorf("languages %s, want %s", got, want)
	}
	for operator, list := range map[string][]search.Filter{"site:": f.Sites, "lang:": f.Languages} {
		for _, l := range list {
			if res, err := r.Search(t.Context(), "rope "+operator+l.Value, search.Options{}); err != nil || res.Total != l.Documents {
				t.Errorf("%s%s: %d documents (%v), %d were offered", operator, l.Value, res.Total, err, l.Documents)
			}
		}
	}
}
