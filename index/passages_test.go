package index

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// TestPreferPassages: of pages that have the words equally often, the one that has them in two sentences
// comes first, then the one that has them in one, unless a title or an anchor names what is asked for.
// Files in shards say the same.
func TestPreferPassages(t *testing.T) {
	var list []Change
	add := func(name, title, text string) {
		list = append(list, Upsert(&Document{Cluster: key(name), Seq: 1, URL: page.URL("https://" + name + ".example/"), Title: title, Text: text, Language: "en"}))
	}
	far := strings.Repeat("water and more water ", 40)
	add("apart", "News", "Some mend a sail."+far+"The torn flag."+far+"All the nets.")
	add("close", "Letters", "Some mend the torn nets."+far+far+"This is all.")
	add("again", "Diary", "Some mend the torn nets."+far+"To mend nets, torn ones."+far+"This is all.")
	for _, name := range []string{"one", "two", "three", "four"} {
		add(name, "Page "+name, far)
	}
	list[len(list)-1].Doc.Anchors = []Anchor{{Text: "more water", Count: 1, Others: 1}}
	w := openTestWriter(t, t.TempDir())
	apply(t, w, list...)
	shards := newDivided(t, 3)
	shards.apply(t, list...)
	r := openTestReader(t, w.dir)
	find := func(q string) []search.Hit {
		t.Helper()
		o := search.Options{Explain: true, Weights: search.DefaultWeights}
		o.Weights.Typed = 0
		res := searchBoth(t, r, shards, q, o)
		return res.Hits
	}
	hits := find("mend torn nets")
	for i, want := range []struct {
		host   string
		factor float64
	}{{"again", 1.5 * math.Pow(1.5, 0.3)}, {"close", 1.5}, {"apart", 1 + 0.5/9.0}} {
		if len(hits) != 3 || hits[i].URL != page.URL("https://"+want.host+".example/") || hits[i].Explanation.PassageFactor != want.factor {
			t.Errorf("hit %d should be of %s, with %v: %+v", i+1, want.host, want.factor, hits)
		}
	}
	for _, q := range []string{"nets", "letters", "page one", "more water"} {
		if i := slices.IndexFunc(find(q), func(h search.Hit) bool { return h.Explanation.PassageFactor != 1 }); i >= 0 {
			t.Errorf("%q: a passage counts", q)
		}
	}
}
