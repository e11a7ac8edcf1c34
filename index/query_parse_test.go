package index

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"indexer/page"
)

// TestNarrow: what is added holds for the whole query, however that ends.
func TestNarrow(t *testing.T) {
	for query, want := range map[string]string{
		"a":                   "a site:x.org",
		"":                    "site:x.org",
		"a OR":                "a OR - site:x.org",
		"(a OR b":             "(a OR b ) site:x.org",
		"a OR (b OR":          "a OR (b OR -) site:x.org",
		"a OR (f(":            "a OR (f( ) site:x.org",
		"a OR intitle:(b (c":  "a OR intitle:(b (c )) site:x.org",
		`a OR (b "c`:          `a OR (b "c ) site:x.org`,
		"a)":                  "a) site:x.org",
		"a OR ((((((((((b OR": "a OR ((((((((((b OR ))-)))))))) site:x.org",
	} {
		got := Narrow(query, "site:x.org")
		if want != "" && got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
		s, err := parseQuery(got)
		if err != nil {
			t.Errorf("%s: %v", got, err)
			continue
		}
		if last := s.clauses[len(s.clauses)-1]; last.kind != clauseSite || last.text != "x.org" || s.unended != "" {
			t.Errorf("%s: the last clause is %+v, open is %q", got, last, s.unended)
		}
	}
}

// TestNeverNothing: a search finds something if a word of the query is in the index,
// whatever the others are: misspelled, too common, stop words or in no document.
func TestNeverNothing(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 8))
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	var changes []Change
	for i := range commonWord + 50 {
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
	for range 300 {
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
		for _, o := range []Options{{}, {NoSuggestion: true}, {Sort: ByDate}, {PerHost: 2}} {
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
