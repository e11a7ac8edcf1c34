package index

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/page"
)

// TestLongQueries: the longest query is answered, a longer one is refused with a reason.
func TestLongQueries(t *testing.T) {
	dir := t.TempDir()
	apply(t, openTestWriter(t, dir), Upsert(&Document{Cluster: key("a"), Seq: 1, URL: "https://a.example/", Title: "harbour 東京都庁", Text: "x"}))
	r := openTestReader(t, dir)
	for _, unit := range []string{"harbour ", "harbour-", "東京都庁", `"東京 harbour" `, "-x ", `"`, "site:a.example ", "🚀"} {
		longest := strings.Repeat(unit, query.MaxBytes/len(unit))
		_, err := r.Search(t.Context(), longest, search.Options{})
		if usage := (*search.UsageError)(nil); err != nil && !errors.As(err, &usage) {
			t.Errorf("%d bytes of %q: %v", len(longest), unit, err)
		}
		usage := (*search.UsageError)(nil)
		if _, err = r.Search(t.Context(), strings.Repeat(unit, 10<<10/len(unit)), search.Options{}); !errors.As(err, &usage) || !strings.Contains(usage.Reason, "at most 4096") {
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
	for i := range ranked + 20 {
		changes = append(changes, doc(fmt.Sprint("page", i), "rope", "harbour harbour harbour harbour"))
	}
	apply(t, w, changes...)
	res, err := openTestReader(t, dir).Search(t.Context(), "harbour", search.Options{Weights: search.Weights{Title: 1, Body: 1, TitleMatch: 32}})
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Hits[0].URL; got != "https://a.example/long" {
		t.Errorf("%s is first", got)
	}
}

// TestNeverNothing: a search finds something if a word of the query is in the index,
// whatever the others are: misspelled, too common, stop words or in no document.
func TestNeverNothing(t *testing.T) {
	rng := testenv.Random(t)
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	var changes []Change
	for i := range 2050 {
		d := &Document{Cluster: key(fmt.Sprint(i)), Seq: 1, URL: page.URL(fmt.Sprintf("https://site%d.example/%d", i%7, i)), Language: "en", Text: "arrays are everywhere"}
		if i%500 == 0 {
			d.Text += " broadcasting polynomials"
		}
		changes = append(changes, Upsert(d))
	}
	apply(t, w, changes...)
	r := openTestReader(t, dir)
	here := strings.Fields("arrays everywhere are broadcasting polynomial array")
	gone := strings.Fields("zzzq the yyyx brodcasting polinomials qqqqqqq numpy")
	for range testenv.Size(10, 150, 1000) {
		query := []string{here[rng.IntN(len(here))]}
		for range 1 + rng.IntN(3) {
			word := gone[rng.IntN(len(gone))]
			switch rng.IntN(6) {
			case 0:
				word = `"` + word + ` arrays"`
			case 1:
				word = "intitle:" + word
			case 2:
				word = "(" + word + " OR zzzq)"
			}
			query = append(query, word)
		}
		rng.Shuffle(len(query), func(i, j int) { query[i], query[j] = query[j], query[i] })
		q := strings.Join(query, " ")
		for _, o := range []search.Options{{}, {NoSuggestion: true}, {Sort: search.ByDate}, {PerHost: 2}} {
			res, err := r.Search(t.Context(), q, o)
			if err != nil {
				t.Fatalf("%s: %v", q, err)
			}
			if res.Total == 0 || len(res.Hits) == 0 {
				t.Fatalf("%s, %+v: nothing: %+v", q, o, res)
			}
		}
	}
}

// TestTotals: where many documents have all the words, the total counts those that were added to them,
// and nothing else, so that it is the number of hits.
func TestTotals(t *testing.T) {
	var changes []Change
	add := func(n int, site, title, text string) {
		for i := range n {
			u := page.URL(fmt.Sprintf("https://%s/%s", site, strings.Repeat("x", i)))
			changes = append(changes, Upsert(&Document{Cluster: key(string(u)), Seq: 1, URL: u, Title: title, Text: text, Language: "en"}))
		}
	}
	add(search.FillBelow, "all.example", "Page", "wooden rope salt harbour")
	add(2, "part.example", "Page", "wooden rope salt")
	add(search.FillBelow, "delete.example", "Page", "delete an account")
	add(1, "remove.example", "Removing an account", "Who leaves us closes what he has here.")
	add(1, "account.example", "Page", "Another account.")
	add(1, "widget.org", "Documentation", "All about the widget.")
	add(search.FillBelow, "pages.example", "Page", "Each widget is at home on a page.")
	changes = append(changes, Upsert(&Document{Cluster: key("turn"), Seq: 1, URL: "https://widget.org/turn", Title: "Turning", Text: "At home on a page: a widget."}))
	w := openTestWriter(t, t.TempDir())
	apply(t, w, changes...)
	r := openTestReader(t, w.dir)
	for query, want := range map[string][2]int{ // total, and with all words
		"wooden rope salt harbour": {search.FillBelow + 2, search.FillBelow},
		"delete account":           {search.FillBelow + 1, search.FillBelow},
		"widget home page":         {search.FillBelow + 2, search.FillBelow + 1},
	} {
		res, err := r.Search(t.Context(), query, search.Options{Limit: 100, Unfold: true})
		if err != nil || res.Total != want[0] || res.AllWords != want[1] || len(res.Hits) != want[0] {
			t.Errorf("%s: %d hits of %d, %d with all words, %v; want %v", query, len(res.Hits), res.Total, res.AllWords, err, want)
		}
	}
}

// TestTinyWeights: no weight is too small or too large for a query.
func TestTinyWeights(t *testing.T) {
	dir := t.TempDir()
	apply(t, openTestWriter(t, dir), Upsert(&Document{Cluster: key("a"), Seq: 1, URL: "https://a.example/", Title: "harbour"}))
	r := openTestReader(t, dir)
	for _, w := range []search.Weights{{Title: 1e-7}, {Title: 1, URL: 1e-300}, {Title: search.MaxWeight, Body: 123456.789e-3}} {
		if res, err := r.Search(t.Context(), "harbour", search.Options{Weights: w}); err != nil || res.Total != 1 {
			t.Errorf("%+v: %+v, %v", w, res, err)
		}
	}
}

// TestLongTitle: a page may have a title of megabytes, full of versions. It does not hold up the
// searches that find it.
func TestLongTitle(t *testing.T) {
	w := openTestWriter(t, t.TempDir())
	long := "harbour " + strings.Repeat("1.2.3 ", 1<<20)
	apply(t, w, Upsert(&Document{Cluster: key("a"), Seq: 1, URL: "https://a.example/1.2/", Title: long, Text: "boats", Language: "en"}))
	r := openTestReader(t, w.dir)
	for _, q := range []string{"harbour", "harbour boats", "site:a.example", "harbour 1.2"} {
		res, err := r.Search(t.Context(), q, search.Options{})
		if err != nil || len(res.Hits) != 1 || res.Hits[0].Title != long {
			t.Errorf("%s: %d hits, %v", q, len(res.Hits), err)
		}
	}
}
