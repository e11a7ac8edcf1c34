package relevancebench

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// makeIndex writes documents and returns their directory. It derives clusters from
// URLs.
func makeIndex(t *testing.T, docs ...index.Document) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "index")
	w, err := index.OpenWriter(t.Context(), dir, index.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var changes []index.Change
	for i := range docs {
		d := &docs[i]
		d.Cluster, d.Seq = page.ContentKey(sha256.Sum256([]byte(d.URL))), 1
		changes = append(changes, index.Upsert(d))
	}
	if err := w.Apply(t.Context(), changes); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// queriesOf are the queries of known items, sorted, with the page that is wanted and what is held out.
func queriesOf(list []knownItem) (out []string) {
	for _, k := range list {
		s := k.query + " → " + string(k.want)
		if k.held != "" {
			s += " without " + k.held
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// TestItems: what is asked for has one right answer.
func TestItems(t *testing.T) {
	dir := makeIndex(t,
		index.Document{URL: "https://a.example/1", Title: "Tides: a “table” -old", Anchors: []index.Anchor{
			{Text: "tide table", Count: 2}, {Text: "home", Count: 3}, {Text: "only here", Count: 1}, {Text: "Twice", Count: 1}, {Text: "twice", Count: 1}, {Text: "»", Count: 4},
		}},
		index.Document{URL: "https://a.example/2", Title: "Welcome", Anchors: []index.Anchor{{Text: "HOME", Count: 1}}},
		index.Document{URL: "https://b.example/3", Title: "WELCOME "},
		index.Document{URL: "https://b.example/4", Title: "東京都の案内"},
		index.Document{URL: "https://b.example/5", Title: "東京"},
		index.Document{URL: "https://b.example/6", Title: "—"},
		index.Document{URL: "https://b.example/7", Title: ""},
	)
	it, err := gatherItems(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if it.documents != 7 {
		t.Errorf("%d documents", it.documents)
	}
	for _, c := range []struct {
		name string
		got  []knownItem
		want []string
	}{
		{"title", it.titles, []string{"Tides a table old → https://a.example/1", "東京 → https://b.example/5", "東京都の案内 → https://b.example/4"}},
		{"cjk-half", it.cjk, []string{"東京都 → https://b.example/4"}},
		{"anchor", it.anchors, []string{"Twice → https://a.example/1 without Twice", "tide table → https://a.example/1 without tide table"}},
		{"anchor-single", it.singles, []string{"only here → https://a.example/1 without only here"}},
	} {
		if got := queriesOf(c.got); !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.name, got, c.want)
		}
	}
}

func TestHalfOf(t *testing.T) {
	for title, want := range map[string]string{
		"東京都の案内": "東京都", "東京都の": "東京", "東京都": "", "Apache 模块 索引": "Apache 模块", "가상 호스트": "가상 호", "tides": "", "": "", "“東京”都の": "東京",
	} {
		if got := halfOf(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}

// TestScores checks the figures on lists that can be reckoned in the head.
func TestScores(t *testing.T) {
	for _, c := range []struct {
		positions            []int
		first, five, inverse float64
	}{
		{nil, 0, 0, 0},
		{[]int{1}, 1, 1, 1},
		{[]int{0}, 0, 0, 0},
		{[]int{1, 2}, 0.5, 1, 0.75},
		{[]int{5, 6}, 0, 0.5, (0.2 + 1.0/6) / 2},
		{[]int{1, 1, 0, 10}, 0.5, 0.5, 2.1 / 4},
	} {
		s := scoresOf(c.positions)
		for i, pair := range [][2]float64{{s.Success1, c.first}, {s.Success5, c.five}, {s.MRR, c.inverse}} {
			if math.Abs(pair[0]-pair[1]) > 1e-12 {
				t.Errorf("%v, figure %d: %v, want %v", c.positions, i, pair[0], pair[1])
			}
		}
	}
}

// harbourDocs are documents of three sites, each page with a title and an anchor of its own.
func harbourDocs(pages int) (docs []index.Document) {
	for i := range pages {
		docs = append(docs, index.Document{
			URL:   page.URL(fmt.Sprintf("https://%s.example/%d", []string{"a", "www.b", "c"}[i%3], i)),
			Title: fmt.Sprintf("Title number%d", i), Text: fmt.Sprintf("text%d of a page", i), Language: "en",
			Anchors: []index.Anchor{
				{Text: fmt.Sprintf("called%d", i), Count: 2, Others: 1},
				{Text: fmt.Sprintf("lonely%d", i), Count: 1, Others: i % 2},
			},
		})
	}
	return docs
}

// TestSplit: the same seed asks the same queries and another seed others, of half of the
// documents, and no more than asked for.
func TestSplit(t *testing.T) {
	dir := makeIndex(t, harbourDocs(60)...)
	kinds := func(seed uint64, n int) []kind {
		it, err := gatherItems(t.Context(), dir) // anew: maps are read in another order
		if err != nil {
			t.Fatal(err)
		}
		return it.kinds(seed, n)
	}
	if a, b := kinds(7, 10), kinds(7, 10); !reflect.DeepEqual(a, b) {
		t.Error("the same seed gives other queries")
	}
	if a, b := kinds(7, 10), kinds(8, 10); reflect.DeepEqual(a[0].items, b[0].items) {
		t.Error("another seed gives the same queries")
	}
	for _, k := range kinds(7, 1000) {
		for _, item := range k.items {
			if !isAsked(7, item.want) {
				t.Errorf("%s is of the half on which weights were chosen", item.want)
			}
		}
		for _, item := range k.unasked {
			if isAsked(7, item.want) {
				t.Errorf("%s is of the half that is asked for", item.want)
			}
		}
		if k.name == "title" && (k.population != len(k.items)+len(k.unasked) || k.population != 60 || len(k.items) < 15 || len(k.items) > 45) {
			t.Errorf("%d titles of %d", len(k.items), k.population)
		}
	}
}

// openRun is a run on documents, with its copies of the index.
func openRun(t *testing.T, o Options, dir string) *bench {
	t.Helper()
	o.Log = io.Discard
	it, err := gatherItems(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{o: o, kinds: it.kinds(o.Seed, 1000)}
	t.Cleanup(func() {
		if err := b.close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := b.copies(context.Background(), dir, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	return b
}

func anchorsOf(t *testing.T, r *index.Reader) map[page.URL][]index.Anchor {
	t.Helper()
	list := make(map[page.URL][]index.Anchor)
	if err := r.Documents(t.Context(), func(d index.Document) error {
		slices.SortFunc(d.Anchors, func(a, b index.Anchor) int { return strings.Compare(a.Text, b.Text) })
		list[d.URL] = d.Anchors
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestHeldOut: the index that is asked does not have the links that its queries were made of, and
// has all other links.
func TestHeldOut(t *testing.T) {
	docs := harbourDocs(12)
	docs[3].Anchors = append(docs[3].Anchors, index.Anchor{Text: "shared", Count: 3, Others: 1})
	docs[4].Anchors = append(docs[4].Anchors, index.Anchor{Text: "shared", Count: 1})
	dir := makeIndex(t, docs...)
	b := openRun(t, Options{}, dir)
	for i := range docs {
		u := docs[i].URL
		want := []index.Anchor{{Text: fmt.Sprint("called", i), Count: 1, Others: 0}}
		switch i {
		case 3:
			want = append(want, index.Anchor{Text: "shared", Count: 3, Others: 1})
		case 4:
			want = append(want, index.Anchor{Text: "shared", Count: 1})
		}
		if got := anchorsOf(t, b.whole)[u]; !slices.Equal(got, want) {
			t.Errorf("%s: anchors %v, want %v", u, got, want)
		}
		for _, a := range anchorsOf(t, b.own)[u] {
			if a.Others != 0 || a.Text == "shared" && i == 3 && a.Count != 2 {
				t.Errorf("%s without other sites: %v", u, a)
			}
		}
		if got := anchorsOf(t, b.silent)[u]; len(got) != 0 {
			t.Errorf("%s without anchors: %v", u, got)
		}
		for query, found := range map[string][3]bool{ // whole, own, silent
			fmt.Sprint("lonely", i): {false, false, false},
			fmt.Sprint("called", i): {true, true, false},
			fmt.Sprint("text", i):   {true, true, true},
		} {
			for j, r := range []*index.Reader{b.whole, b.own, b.silent} {
				res, err := r.Search(t.Context(), query, search.Options{NoSuggestion: true})
				if err != nil || (res.Total > 0) != found[j] {
					t.Errorf("%s in index %d: %d documents, %v", query, j, res.Total, err)
				}
			}
		}
	}
	r, err := index.OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if res, err := r.Search(t.Context(), "lonely3", search.Options{}); err != nil || res.Total != 1 {
		t.Errorf("the index that was copied has changed: %+v, %v", res, err)
	}
}

// TestVariants: each variant leaves out what it says, and nothing else.
func TestVariants(t *testing.T) {
	w := search.Weights{Title: 9, Body: 2, Anchors: 8, Outside: 7, URL: 6, TitleMatch: 5, AnchorMatch: 4, Rank: 3, Typed: 2}
	b := openRun(t, Options{PerHost: 2, Weights: w}, makeIndex(t, harbourDocs(3)...))
	seen := make(map[string]variant)
	var names []string
	for _, v := range b.variants() {
		seen[v.name] = v
		names = append(names, v.name)
	}
	if got := strings.Join(names, ", "); got != "all, no anchors, no outside anchors, no rank, main content only, rest like main content, no url, no title weight, no title match, no anchor match, no words as typed, folded, 2 a host" {
		t.Errorf("variants %s", got)
	}
	for name, change := range map[string]func(*variant){
		"all":                func(*variant) {},
		"no anchors":         func(v *variant) { v.index = b.silent },
		"no outside anchors": func(v *variant) { v.index = b.own },
		"no rank":            func(v *variant) { v.opts.Weights.Rank = 0 },
		"no url":             func(v *variant) { v.opts.Weights.URL = 0 },
		"no title weight":    func(v *variant) { v.opts.Weights.Title, v.opts.Weights.TitleMatch = 2, 0 },
		"no title match":     func(v *variant) { v.opts.Weights.TitleMatch = 0 },
		"no anchor match":    func(v *variant) { v.opts.Weights.AnchorMatch = 0 },
		"no words as typed":  func(v *variant) { v.opts.Weights.Typed = 0 },
		"folded":             func(v *variant) { v.opts.Unfold = false },
		"2 a host":           func(v *variant) { v.opts.PerHost = 2 },
	} {
		want := variant{name: name, index: b.whole, opts: search.Options{Weights: w, NoSuggestion: true, Unfold: true}}
		change(&want)
		if seen[name] != want {
			t.Errorf("%s: %+v", name, seen[name])
		}
	}
}

// crowded are documents of two sites whose titles stand many times in the texts of other pages:
// with a title that weighs no more than the text, these come first.
func crowded() (docs []index.Document) {
	for i := range 12 {
		site := []string{"a", "b"}[i%2]
		name := fmt.Sprintf("harbour%d", i)
		docs = append(docs,
			index.Document{URL: page.URL(fmt.Sprintf("https://%s.example/page%d", site, i)), Title: name, Text: strings.Repeat("a quiet place by the sea ", 8)},
			index.Document{URL: page.URL(fmt.Sprintf("https://%s.example/list%d", site, i)), Text: strings.Repeat(name+" ", 5)},
		)
	}
	return docs
}

// TestRun runs the whole on an index that is there, twice with the same result.
func TestRun(t *testing.T) {
	o := Options{Index: makeIndex(t, append(crowded(), harbourDocs(12)...)...), Queries: 5, Seed: 3, Weights: search.DefaultWeights, PerHost: 2, Log: io.Discard}
	res, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if res.Documents != 36 || res.Seed != 3 || len(res.Kinds) != 5 {
		t.Errorf("%d documents, seed %d, %d kinds", res.Documents, res.Seed, len(res.Kinds))
	}
	for _, k := range res.Kinds {
		if k.Queries > 5 || len(k.Variants) != 13 && k.Queries > 0 {
			t.Errorf("%s: %d queries, %d variants", k.Kind, k.Queries, len(k.Variants))
		}
		if k.Kind == "anchor" && (k.Variants[0].Success1 != 1 || k.Variants[1].Success5 != 0) {
			t.Errorf("pages that only anchors name: %+v", k.Variants[:2])
		}
	}
	again, err := Run(t.Context(), o)
	if err != nil || !reflect.DeepEqual(res, again) {
		t.Errorf("two runs differ:\n%+v\n%+v, %v", res, again, err)
	}
	if text := res.Text(true); !strings.Contains(text, "36 documents, seed 3\nweights title 12,") || !strings.Contains(text, "\n  no outside anchors ") {
		t.Errorf("text:\n%s", text)
	}
}
