package index

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// typedWeb is documents of which a few have rare words, in several forms and places, among
// many that have none.
func typedWeb() (list []Change) {
	add := func(name, title, text string, anchors ...string) {
		d := Document{Cluster: key(name), Seq: 1, URL: page.URL("https://" + name + ".example/"), Title: title, Text: text, Language: "en"}
		for _, a := range anchors {
			d.Anchors = append(d.Anchors, Anchor{Text: a, Count: 1})
		}
		list = append(list, Upsert(&d))
	}
	for i := range 120 {
		add(fmt.Sprint("filler", i), fmt.Sprint("Page ", i), strings.Repeat(fmt.Sprint("harbour sea w", i, " "), 20))
	}
	long := strings.Repeat("the harbour and the sea ", 40)
	add("other", "", "Polishing brass lanterns. Whoever sits in the tower at night may polish what there is to see. Some of it is brass, for example the lantern.")
	add("exact", "", "She polished brass lanterns. "+long)
	add("longer", "", "He polished brass lanterns. "+long+long+long)
	behind := strings.Repeat("waves and foam ", 2*headSize/15)
	add("behind", "", "Polishing, a brass lantern. "+behind+" They polished brass lanterns.")
	add("lacking", "", "Polishing, a brass lantern. "+behind+" They polish their brass lantern.")
	add("named", "How the old keeper polished brass in the tower", "A brass lantern, to polish. "+long, "all the lanterns of the whole southern coast")
	endless := strings.Repeat("wave foam ", 100_000/2+1)
	add("about", "", "Mending copper kettles. Who mends them needs a hammer and much patience. So mend the copper kettle slowly.")
	add("mended", "", "She mended copper kettles. "+long)
	add("endless", "", "Polishing a brass lantern. "+endless)
	return list
}

// TestTyped: among pages that have rare words in any form, those that have them as typed come
// first, short ones before long ones, wherever in the page the words are. Files in shards say the same.
func TestTyped(t *testing.T) {
	w := openTestWriter(t, t.TempDir())
	shards := newDivided(t, 3)
	apply(t, w, typedWeb()...)
	shards.apply(t, typedWeb()...)
	r := openTestReader(t, w.dir)
	find := func(q string, o search.Options) (names []string, typed map[string]bool) {
		t.Helper()
		o.Explain = true
		res := searchBoth(t, r, shards, q, o)
		typed = make(map[string]bool)
		for _, h := range res.Hits {
			name := strings.TrimSuffix(strings.TrimPrefix(string(h.URL), "https://"), ".example/")
			names = append(names, name)
			typed[name] = h.Explanation.TypedFactor > 1
		}
		return names, typed
	}
	before := func(names []string, a, b string) bool { return slices.Index(names, a) < slices.Index(names, b) }
	plain := search.DefaultWeights
	plain.Typed = 0
	if names, _ := find("polished brass lanterns", search.Options{Weights: plain}); before(names, "exact", "other") {
		t.Errorf("without the factor, the page with the words as typed comes first already: %q", names)
	}
	names, typed := find("polished brass lanterns", search.Options{})
	if !before(names, "exact", "other") || !before(names, "exact", "longer") {
		t.Errorf("order %q", names)
	}
	for name, want := range map[string]bool{"exact": true, "longer": true, "behind": true, "named": true, "endless": true, "other": false, "lacking": false} {
		if typed[name] != want {
			t.Errorf("%s has the words as typed: %v, want %v", name, typed[name], want)
		}
	}
	for _, q := range []string{
		"page harbour sea",  // in more than a few documents
		"polished lanterns", // too few words
		"(polished OR polishing) brass lanterns",
		"old keeper polished brass tower", // a title
		"mended copper kettles",           // a page is about them
		"the",
		"lang:en",
	} {
		if _, typed := find(q, search.Options{}); slices.Contains(slices.Collect(maps.Values(typed)), true) {
			t.Errorf("%q: words count as typed: %v", q, typed)
		}
	}
}
