package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"indexer/page"
)

// TestTrials asks random queries with random weights, of a search and of a trial.
func TestTrials(t *testing.T) {
	for _, size := range []int{3, 60, 700} {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Logf("seed %d", seed)
			testTrials(t, size, rand.New(rand.NewPCG(seed, 5)))
		})
	}
}

// trialWords are few, so that queries match much and words stand together by chance.
var trialWords = strings.Fields("harbour harbours museum ferry ferries the of running runs 東京都 京都 max.poll rope salt nets tide salt-rope saltrope C++ of-the")

func testTrials(t *testing.T, size int, rng *rand.Rand) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	text := func(n int) string {
		var list []string
		for range n {
			list = append(list, trialWords[min(rng.IntN(len(trialWords)), rng.IntN(len(trialWords)))])
		}
		return strings.Join(list, " ")
	}
	var changes []Change
	crowd := rng.IntN(50) // that many documents of one site to one of another
	for i := range size {
		site := rng.IntN(9)
		if rng.IntN(1+crowd) > 0 {
			site = 1
		}
		u := page.URL(fmt.Sprintf("https://site%d.example/%s/%d", site, trialWords[rng.IntN(5)], i))
		d := &Document{Cluster: key(string(u)), Seq: 1, URL: u, Language: []string{"en", "ja", "de", ""}[rng.IntN(4)], Title: text(rng.IntN(5)), Text: text(rng.IntN(40)), Rank: rng.ExpFloat64()}
		for range rng.IntN(3) {
			d.Anchors = append(d.Anchors, Anchor{Text: text(1 + rng.IntN(3)), Count: 1 + rng.IntN(3), Others: rng.IntN(2)})
		}
		changes = append(changes, Upsert(d))
	}
	apply(t, w, changes...)
	r := openTestReader(t, dir)
	v, err := r.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	trials, err := v.Trials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 60 {
		query := trialQuery(rng, text)
		if rng.IntN(3) == 0 {
			query = groupedQuery(rng, text)
		}
		trial, err := trials.Prepare(t.Context(), query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		for range 4 {
			o := TrialOptions{Weights: randomWeights(rng), PerHost: rng.IntN(3)}
			sameAsSearch(t, v, trial, query, o)
			o.Weights.TitleMatch, o.Weights.AnchorMatch = o.Weights.AnchorMatch, o.Weights.TitleMatch // matches by text stay
			sameAsSearch(t, v, trial, query, o)
		}
	}
}

func trialQuery(rng *rand.Rand, text func(int) string) string {
	parts := []string{`"` + text(2) + `"`, "intitle:" + text(1), "inurl:" + text(1), "-" + text(1), "-intitle:" + text(1), "site:site1.example", "京 nothing", "lang:en"}
	query := text(1 + rng.IntN(4))
	for range rng.IntN(4) {
		query += " " + parts[rng.IntN(len(parts))]
	}
	return query
}

// groupedQuery has alternatives and groups in it.
func groupedQuery(rng *rand.Rand, text func(int) string) string {
	var side func(depth int) string
	side = func(depth int) string {
		switch n := rng.IntN(12); {
		case n < 4 && depth < 3:
			return "(" + side(depth+1) + " OR " + side(depth+1) + " " + side(depth+1) + ")"
		case n < 5:
			return "(" + text(1) + " -" + text(1) + ")"
		}
		return []string{text(1), text(1), `"` + text(2) + `"`, "intitle:" + text(1), "site:site1.example", "lang:en", "(" + text(2) + ")", "intitle:(" + text(2) + ")"}[rng.IntN(8)]
	}
	return text(1) + " " + side(0) + " OR " + side(0) + []string{"", " " + text(1), " -(" + text(2) + ")"}[rng.IntN(3)]
}

func randomWeights(rng *rand.Rand) Weights {
	x := func(most float64) float64 {
		if rng.IntN(4) == 0 {
			return 0
		}
		return rng.Float64() * most
	}
	return Weights{Title: x(40), Body: 0.1 + x(2), Anchors: x(20), Outside: x(40), URL: x(10), TitleMatch: x(40), AnchorMatch: x(8), Rank: x(0.2)}
}

// sameAsSearch compares a trial with the search.
func sameAsSearch(t *testing.T, v *View, trial *Trial, query string, o TrialOptions) {
	t.Helper()
	res, err := v.Search(t.Context(), query, Options{Weights: o.Weights, PerHost: o.PerHost, NoSuggestion: true})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	var want []page.URL
	for _, h := range res.Hits {
		want = append(want, h.URL)
	}
	if got := trial.Search(o); !slices.Equal(got, want) {
		t.Fatalf("%s with %+v:\ntrial  %v\nsearch %v", query, o, got, want)
	}
}

// TestTrialWithoutNamed: a page lost among others by its text, which its title alone brings back.
func TestTrialWithoutNamed(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	doc := func(name, title, text string) {
		u := page.URL("https://a.example/" + name)
		apply(t, w, Upsert(&Document{Cluster: key(name), Seq: 1, URL: u, Title: title, Text: text}))
	}
	for i := range rerankTop + 20 {
		doc(fmt.Sprint("page", i), "rope", "harbour harbour harbour harbour")
	}
	doc("long", "harbour", strings.Repeat("nets and salt ", 3000))
	v, err := openTestReader(t, dir).Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	trials, err := v.Trials(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	trial, err := trials.Prepare(t.Context(), "harbour")
	if err != nil {
		t.Fatal(err)
	}
	weights := Weights{Title: 1, Body: 1, TitleMatch: 32}
	if got := trial.Search(TrialOptions{Weights: weights})[0]; got != "https://a.example/long" {
		t.Errorf("with the documents that are called so: %s first", got)
	}
	if got := trial.Search(TrialOptions{Weights: weights, NoNamed: true}); slices.Contains(got, "https://a.example/long") {
		t.Errorf("without them it is there all the same: %v", got)
	}
}
