package index

import (
	"errors"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/indextest"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
)

// FuzzQuery: no query is an error of SQLite, and results keep their bounds.
func FuzzQuery(f *testing.F) {
	for _, s := range indextest.OddTexts {
		f.Add(s)
		f.Add("page -" + s + ` "` + s + `" site:` + s)
	}
	f.Add(strings.Repeat("page ", query.MaxClauses+1))
	dir := f.TempDir()
	w := openTestWriter(f, dir)
	docs := generate(30, 1)
	for i, s := range indextest.OddTexts {
		if i < len(docs) {
			docs[i].Doc.Text = "page " + s
		}
	}
	if err := w.Apply(f.Context(), docs); err != nil {
		f.Fatal(err)
	}
	r := openTestReader(f, dir)
	f.Fuzz(func(t *testing.T, q string) {
		for _, o := range []search.Options{{Sort: search.ByDate}, {PerHost: 1, Explain: true, NoSuggestion: true}} {
			if _, err := r.Search(t.Context(), q, o); err != nil && !errors.As(err, new(*search.UsageError)) {
				t.Fatalf("%q, %+v: %v", q, o, err)
			}
		}
		narrowed, err := r.Search(t.Context(), query.Narrow(q, "site:site1.example.org"), search.Options{Limit: 100})
		if err != nil && !errors.As(err, new(*search.UsageError)) {
			t.Fatalf("%q, narrowed: %v", q, err)
		}
		for i := range hitsOf(narrowed) {
			if u := narrowed.Hits[i].URL; !strings.Contains(strings.ToLower(q), "site:") && u.Host() != "site1.example.org" {
				t.Fatalf("%q, narrowed: %s", q, u)
			}
		}
		res, err := r.Search(t.Context(), q, search.Options{})
		if usage := (*search.UsageError)(nil); errors.As(err, &usage) {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", q, err)
		}
		if len(res.Hits) > 10 || len(res.Hits) > res.Total || res.AllWords > res.Total || len(res.Hits) < min(10, res.Total) {
			t.Fatalf("%q: %d hits of %d, with all words %d", q, len(res.Hits), res.Total, res.AllWords)
		}
	})
}

func hitsOf(res *search.Results) []search.Hit {
	if res == nil {
		return nil
	}
	return res.Hits
}
