package index

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestStemCache: whatever the cache has forgotten or kept, the stem is the
// stemmer's; words that do not fit are not mixed up with others.
func TestStemCache(t *testing.T) {
	st := stemmerFor("en")
	c := &stemCache{stemmer: st}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		word := fmt.Sprintf("word%cs", 'a'+rng.IntN(26)) + strings.Repeat("ness", rng.IntN(16))
		if rng.IntN(2) == 0 {
			word = fmt.Sprintf("w%xing", rng.IntN(100_000))
		}
		if got, want := string(c.stem([]byte("x"), []byte(word))), "x"+st.stem(word); got != want {
			t.Fatalf("stem of %s: %q, want %q", word, got, want)
		}
	}
}

// TestAnchorOrder: which of the anchors is the most frequent is no change of what
// can be searched.
func TestAnchorOrder(t *testing.T) {
	a := &Document{URL: "https://a.example/", Anchors: []Anchor{{Text: "one", Count: 3}, {Text: "two", Count: 2}}}
	b := &Document{URL: "https://a.example/", Anchors: []Anchor{{Text: "two", Count: 4}, {Text: "one", Count: 3}}}
	if hashText(a) != hashText(b) || analyze(a) != analyze(b) {
		t.Error("the order of anchors changes what is indexed")
	}
	b.Anchors[0].Text = "three"
	if hashText(a) == hashText(b) {
		t.Error("another anchor does not")
	}
}

// TestMergingInPauses: after single writes, a pause leaves few segments, and what
// is found stays the same.
func TestMergingInPauses(t *testing.T) {
	w := openTestWriter(t, t.TempDir())
	for _, c := range generate(40, 1) {
		if err := w.Apply(t.Context(), []Change{c}); err != nil {
			t.Fatal(err)
		}
	}
	rounds := 0
	err := w.submit(t.Context(), 1, func(tb *tables) error {
		for more := true; more; rounds++ {
			var err error
			if more, err = tb.merge(); err != nil {
				return err
			}
		}
		var segments int
		if _, err := tb.row("SELECT count(DISTINCT segid) FROM fts_idx", nil, &segments); err != nil {
			return err
		}
		if segments > 6 {
			t.Errorf("%d segments after merging", segments)
		}
		return tb.exec("INSERT INTO fts(fts, rank) VALUES('integrity-check', 0)")
	})
	if err != nil {
		t.Fatal(err)
	}
	if rounds < 2 {
		t.Errorf("merging ended after %d rounds: nothing was there to merge", rounds)
	}
}
