package analysis

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/indextest"

	"github.com/cockroachdb/datadriven"
)

// TestSpec runs testdata/spec: "analyze lang=XX" gives the tokens of each line of the input.
func TestAnalysisSpec(t *testing.T) {
	datadriven.Walk(t, "testdata/spec", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "analyze" {
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			return specAnalyze(d)
		})
	})
}

func specAnalyze(d *datadriven.TestData) string {
	var lang string
	for _, a := range d.CmdArgs {
		if a.Key == "lang" {
			lang = a.Vals[0]
		}
	}
	var b strings.Builder
	for _, l := range strings.Split(d.Input, "\n") {
		b.WriteString(strings.TrimSpace(new(analyzer).column(l, StemmerFor(lang), nil)) + "\n")
	}
	return indextest.Visible(b.String())
}

// TestStemCache: whatever the cache has forgotten or kept, the stem is the
// stemmer's; words that do not fit are not confused with others.
func TestStemCache(t *testing.T) {
	st := StemmerFor("en")
	c := NewStemCache(st)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		word := fmt.Sprintf("word%cs", 'a'+rng.IntN(26)) + strings.Repeat("ness", rng.IntN(16))
		if rng.IntN(2) == 0 {
			word = fmt.Sprintf("w%xing", rng.IntN(100_000))
		}
		if got, want := string(c.Append([]byte("x"), []byte(word))), "x"+st.Stem(word); got != want {
			t.Fatalf("stem of %s: %q, want %q", word, got, want)
		}
	}
}
