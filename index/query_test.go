package index

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"indexer/page"
)

// TestLongQueries: the longest query is answered, a longer one is refused with a reason.
func TestLongQueries(t *testing.T) {
	dir := t.TempDir()
	apply(t, openTestWriter(t, dir), Upsert(&Document{Cluster: key("a"), Seq: 1, URL: "https://a.example/", Title: "harbour 東京都庁", Text: "x"}))
	r := openTestReader(t, dir)
	for _, unit := range []string{"harbour ", "harbour-", "東京都庁", `"東京 harbour" `, "-x ", `"`, "site:a.example ", "🚀"} {
		longest := strings.Repeat(unit, maxQueryBytes/len(unit))
		_, err := r.Search(t.Context(), longest, Options{})
		if usage := (*UsageError)(nil); err != nil && !errors.As(err, &usage) {
			t.Errorf("%d bytes of %q: %v", len(longest), unit, err)
		}
		usage := (*UsageError)(nil)
		if _, err = r.Search(t.Context(), strings.Repeat(unit, 10<<10/len(unit)), Options{}); !errors.As(err, &usage) || !strings.Contains(usage.Reason, "at most 4096") {
			t.Errorf("10 KiB of %q: %v", unit, err)
		}
	}
}

// TestFoundByName: a long page that has the word many times less than a hundred others
// comes first, because its title is the query.
func TestFoundByName(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	doc := func(name, title, text string) Change {
		return Upsert(&Document{Cluster: key(name), Seq: 1, URL: page.URL("https://a.example/" + name), Title: title, Text: text})
	}
	changes := []Change{doc("long", "harbour", strings.Repeat("nets and salt ", 3000))}
	for i := range rerankTop + 20 {
		changes = append(changes, doc(fmt.Sprint("page", i), "rope", "harbour harbour harbour harbour"))
	}
	apply(t, w, changes...)
	res, err := openTestReader(t, dir).Search(t.Context(), "harbour", Options{Weights: Weights{Title: 1, Body: 1, TitleMatch: 32}})
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Hits[0].URL; got != "https://a.example/long" {
		t.Errorf("%s is first", got)
	}
}
