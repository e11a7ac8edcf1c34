package relevancebench

import (
	"context"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

func TestParseQueries(t *testing.T) {
	list, err := parseQueries(strings.NewReader(`# A comment

tide table
  3 ^https://a\.example/2/tides$
  or 1 ^https://a\.example/[01]/tides$
  2 /harbour$

marées # of the coast
  lang fr
  3 /fr/
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].query != "tide table" || list[0].language != "en" || list[1].query != "marées # of the coast" || list[1].language != "fr" {
		t.Fatalf("%+v", list)
	}
	q := &list[0]
	if got := q.ideal(); len(got) != 2 || got[0] != 3 || got[1] != 2 {
		t.Errorf("ideal grades %v", got)
	}
	for _, c := range []struct {
		hits []page.URL
		want []int
	}{
		{[]page.URL{"https://a.example/2/tides", "https://a.example/1/tides", "https://a.example/harbour"}, []int{3, 0, 2}},
		{[]page.URL{"https://a.example/1/tides", "https://a.example/2/tides"}, []int{1, 0}}, // the second one repeats the first
		{[]page.URL{"https://a.example/3/tides"}, []int{0}},
		{nil, nil},
	} {
		if got := q.grades(c.hits); !slices.Equal(got, c.want) {
			t.Errorf("%v: grades %v, want %v", c.hits, got, c.want)
		}
	}
}

func TestParseQueriesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "no queries",
		"# nothing\n":                "no queries",
		"  3 x\n":                    "line 1: an indented line belongs to a query",
		"q\n  4 x\n":                 "a grade from 1 to 3",
		"q\n  x\n":                   "a grade from 1 to 3",
		"q\n  3\n":                   "no regular expression",
		"q\n  3 (\n":                 "missing closing",
		"q\n  or 3 x\n":              "needs an answer above it",
		"q\n  2 x\n":                 `"q": no answer has grade 3`,
		"q\nr\n  3 x\n":              `"q": no answer has grade 3`,
		strings.Repeat("q", 100_000): "token too long",
	} {
		if _, err := parseQueries(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
}

// TestQueryFiles: the files of the project can be read, and no query is in both.
func TestQueryFiles(t *testing.T) {
	seen := make(map[string]string)
	for _, name := range []string{"tuning.txt", "held-out.txt"} {
		list, err := readQueries(filepath.Join("..", "testdata", "queries", name))
		if err != nil {
			t.Fatal(err)
		}
		if len(list) < 50 {
			t.Errorf("%s: %d queries", name, len(list))
		}
		for _, q := range list {
			if seen[q.query] != "" {
				t.Errorf("%q is in %s and in %s", q.query, seen[q.query], name)
			}
			seen[q.query] = name
		}
	}
}

func TestNDCG(t *testing.T) {
	for _, c := range []struct {
		grades, ideal []int
		want          float64
	}{
		{[]int{3, 2}, []int{3, 2}, 1},
		{nil, []int{3}, 0},
		{[]int{0, 3}, []int{3}, 1 / math.Log2(3)},
		{[]int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3}, []int{3}, 0}, // below the first ten
	} {
		if got := ndcg(c.grades, c.ideal); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v of %v: %v, want %v", c.grades, c.ideal, got, c.want)
		}
	}
}

func TestBare(t *testing.T) {
	for url, want := range map[string]string{
		"https://a.example/docs/1.26/guide.html":   "docs/guide.html",
		"https://a.example/docs/latest/guide.html": "docs/guide.html",
		"https://a.example/fr/docs/guide.html":     "docs/guide.html",
		"https://a.example/docs/guide.html.fr":     "docs/guide.html",
		"https://a.example/pt-br/guide":            "guide",
		"https://a.example/2024/05/31/tool-1.2.3":  "tool-",
		"https://a.example/mod_http2.html":         "mod_http2.html",
		"https://a.example":                        "",
	} {
		if got := barePath(url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
	if got := bare("Tool v2.1 Guide — 10 steps"); got != "Tool Guide — 10 steps" {
		t.Errorf("title %q", got)
	}
}

// tideMenu is on most pages of tideDocs.
const tideMenu = "start menu of all harbours by the sea "

// tideDocs are eight documents of one site: two versions of a page, a translation, and others.
func tideDocs() (docs []index.Document) {
	add := func(url, language, title, text string) {
		docs = append(docs, index.Document{URL: page.URL("https://a.example/" + url), Language: language, Title: title, Text: text})
	}
	for _, v := range []string{"1.1", "1.2"} {
		add(v+"/tides", "en", "Tides", tideMenu+"high water comes twice a day, and low water as often as that in version "+v)
	}
	add("fr/1.2/tides", "fr", "Marées", "la pleine mer revient deux fois par jour, tides")
	for _, name := range []string{"fog", "wind", "rain", "snow", "hail"} {
		add(name, "en", name, tideMenu+"nothing but "+name)
	}
	return docs
}

// TestJudge: the figures of given answers, by hand.
func TestJudge(t *testing.T) {
	r, err := index.OpenReader(makeIndex(t, tideDocs()...))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	pages, err := readPages(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	queries, err := parseQueries(strings.NewReader("tides\n  3 /1[.]2/tides$\n  or 2 /1[.]1/tides$\nfog\n  3 fog$\nmarées\n  lang fr\n  3 /fr/\n"))
	if err != nil {
		t.Fatal(err)
	}
	const site = "https://a.example/"
	answers := map[string][]shown{
		"tides":  {{site + "1.1/tides", "en", tideMenu}, {site + "1.2/tides", "en", "high water"}}, // the second repeats the first
		"fog":    {{site + "wind", "fr", "nothing but wind"}, {site + "fog", "en", "nothing but fog"}},
		"marées": {{site + "fr/1.2/tides", "fr", "la pleine mer"}},
	}
	v, err := judge(t.Context(), queries, func(_ context.Context, query string) ([]shown, error) { return answers[query], nil }, pages)
	if err != nil {
		t.Fatal(err)
	}
	// Grades are 2 and 0 of 3, 0 and 3 of 3, and 3 of 3. The only frequent word of titles is tides.
	for name, f := range map[string][2]float64{
		"success@1": {v.Success1, 1.0 / 3}, "success@5": {v.Success5, 2.0 / 3}, "nDCG": {v.NDCG, (3.0/7 + 1/math.Log2(3) + 1) / 3},
		"repeats": {v.Repeats, 1.0 / 3}, "repeats of frequent words": {v.HeadRepeats, 1},
		"navigation": {v.Navigation, 1.0 / 5}, "other language": {v.OtherLanguage, 1.0 / 2},
	} {
		if math.Abs(f[0]-f[1]) > 1e-12 {
			t.Errorf("%s: %g, want %g", name, f[0], f[1])
		}
	}
	want := []Miss{{"tides", "/1[.]2/tides$", site + "1.1/tides", 0}, {"fog", "fog$", site + "wind", 2}}
	if !slices.Equal(v.Missed, want) {
		t.Errorf("missed %+v, want %+v", v.Missed, want)
	}
}

// TestJudged asks three queries of a small index, and of plain FTS5.
func TestJudged(t *testing.T) {
	queries := filepath.Join(t.TempDir(), "queries.txt")
	if err := os.WriteFile(queries, []byte("tides\n  3 /1[.]2/tides$\n  or 2 /1[.]1/tides$\nfog\n  3 fog$\nharbours\n  3 /wind$\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	res, err := Run(t.Context(), Options{Index: makeIndex(t, tideDocs()...), QueryFile: queries, Ablate: true, Weights: search.DefaultWeights, Log: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if res.Documents != 8 || res.Judged.Queries != 3 || len(res.Judged.Variants) < 5 {
		t.Fatalf("%+v", res.Judged)
	}
	for _, v := range res.Judged.Variants {
		if v.NDCG <= 0 || v.NDCG > 1 || v.Success1 > v.Success5 || v.Success5 == 0 {
			t.Errorf("%+v", v)
		}
	}
	last := res.Judged.Variants[len(res.Judged.Variants)-1]
	if last.Variant != "plain FTS5" || last.Repeats == 0 || last.Navigation == 0 {
		t.Errorf("%+v", last)
	}
	if text := res.Text(true); !strings.Contains(text, "queries.txt: 3 queries") || !strings.Contains(text, "\n  plain FTS5 ") {
		t.Errorf("text:\n%s", text)
	}
}

// TestRareItems: the words of an item are rare, and stand in its document.
func TestRareItems(t *testing.T) {
	dir := makeIndex(t,
		index.Document{URL: "https://a.example/1", Text: "walrus narwhal dolphin sea unique"},
		index.Document{URL: "https://a.example/2", Text: "dolphin walrus narwhal"},
		index.Document{URL: "https://a.example/3", Text: "walrus"},
	)
	it, err := gatherItems(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	got := queriesOf(it.rare)
	if len(got) != 2 || got[0] != "dolphin walrus narwhal → https://a.example/2" || got[1] != "walrus narwhal dolphin → https://a.example/1" {
		t.Errorf("%q", got)
	}
}
