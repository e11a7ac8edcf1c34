package index

import (
	"math"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// outlined returns a document with a section for each of these headings.
func outlined(headings ...string) (*Document, *page.Outline) {
	d, o := &Document{Language: "en"}, new(page.Outline)
	for _, h := range headings {
		o.Sections = append(o.Sections, page.Section{ID: "x", Title: page.Range{Start: len(d.Text), End: len(d.Text) + len(h)}})
		d.Text += h + "\nA paragraph.\n"
	}
	return d, o
}

func TestHeadingsOf(t *testing.T) {
	many := make([]string, maxHeadings+10)
	for i := range many {
		many[i] = string(rune('一' + i))
	}
	for _, c := range []struct {
		headings []string
		want     string
	}{
		{nil, ""},
		{[]string{"Trimming the wick", "Fog"}, "Trimming the wick\nFog\n"},
		{[]string{" Two\n lines ", "", "Two lines", "Fog"}, "Two lines\nFog\n"},
		{[]string{strings.Repeat("long ", 30), "Fog"}, "Fog\n"},
		{many, strings.Join(many[:maxHeadings], "\n") + "\n"},
	} {
		d, o := outlined(c.headings...)
		if got := headingsOf(d, o); got != c.want {
			t.Errorf("%q: %q, want %q", c.headings, got, c.want)
		}
	}
}

// TestBestHeading: the heading that is the query counts, and words in many headings do not add up.
func TestBestHeading(t *testing.T) {
	d, o := outlined("auto.reset", "Trimming the wick", "Wick", "RebalanceListener")
	headings, err := takeHeadings(headingsOf(d, o), d.Language)
	if err != nil || len(headings) != 4 {
		t.Fatal(headings, err)
	}
	for words, want := range map[string]float64{
		"auto.reset": headingMost, "wick": headingMost, "trimming the wick": headingMost, "wick fog": headingMost / 4, "rebalance listener": headingMost, "fog": 0,
	} {
		c, err := query.Compile(words, []*analysis.Stemmer{analysis.StemmerFor("en")}, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := bestHeading(headings, c.Words); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", words, got, want)
		}
	}
}

// TestHeadingsRank: the page with the heading comes first, also after its text has changed.
func TestHeadingsRank(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	doc := func(u page.URL, seq uint64, headings ...string) Change {
		d, o := outlined(headings...)
		d.Cluster, d.Seq, d.URL, d.Outline = key(string(u)), seq, u, o.Encode()
		return Upsert(d)
	}
	const a, b = page.URL("https://a.example/"), page.URL("https://b.example/")
	first := func() page.URL {
		r := openTestReader(t, dir)
		if err := r.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		res, err := r.Search(t.Context(), "lamp oil", search.Options{})
		if err != nil || len(res.Hits) != 2 {
			t.Fatalf("%+v, %v", res, err)
		}
		return res.Hits[0].URL
	}
	apply(t, w, doc(a, 1, "Oil of a lamp that burns"), doc(b, 1, "Lamp oil", "Other matters, at length"))
	if got := first(); got != b {
		t.Errorf("first is %s", got)
	}
	apply(t, w, doc(a, 2, "Lamp oil", "Other matters, at length"), doc(b, 2, "Oil of a lamp that burns"))
	if got := first(); got != a {
		t.Errorf("then first is %s", got)
	}
}
