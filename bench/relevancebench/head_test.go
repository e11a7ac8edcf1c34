package relevancebench

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/page"
)

// TestHeadWords: the queries are the most frequent words and pairs of neighbouring words of
// titles, without stop words, short words and numbers, and each title counts once.
func TestHeadWords(t *testing.T) {
	h := make(headWords)
	for _, title := range []string{
		"Harbour Guide", "The harbour guide", "Guide of the harbour", "harbour harbour harbour", "Tides 2024 tables", "Tides of tables", "An ox", "Fog",
	} {
		h.add(title)
	}
	want := []string{"harbour", "guide", "harbour guide", "tables", "tides"}
	if got := h.queries(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for i := range 3 * headQueries {
		word := fmt.Sprintf("w%c%c", 'a'+i/26, 'a'+i%26)
		h.add(word + " harbour")
		h.add(word + " harbour")
	}
	got := h.queries()
	pairs := 0
	for _, query := range got {
		if isPair(query) {
			pairs++
		}
	}
	if len(got) != 2*headQueries || pairs != headQueries || got[0] != "harbour" {
		t.Errorf("%d queries, %d pairs: %q", len(got), pairs, got)
	}
}

// TestHeadRepeats: hits that repeat one above them are counted, on average over the queries.
func TestHeadRepeats(t *testing.T) {
	var docs []index.Document
	for _, path := range []string{"1.1/tides", "1.2/tides", "1.3/tides", "fog"} {
		docs = append(docs, index.Document{URL: page.URL("https://a.example/" + path), Language: "en", Title: path[len(path)-3:], Text: "all about " + path})
	}
	r, err := index.OpenReader(makeIndex(t, docs...))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := readPages(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	all := func(_ context.Context, query string) (list []shown, err error) {
		for _, d := range docs {
			if query == "every page" || d.URL == "https://a.example/fog" {
				list = append(list, shown{url: d.URL})
			}
		}
		return list, nil
	}
	if got, err := p.repeatsOf(t.Context(), []string{"every page", "fog"}, all); err != nil || got != 1 {
		t.Errorf("%v repeats a page, %v; want 1", got, err)
	}
	if got, err := p.repeatsOf(t.Context(), nil, all); err != nil || got != 0 {
		t.Errorf("%v repeats without queries, %v", got, err)
	}
}
