package search

import (
	"math"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
)

func passageQuestion(t *testing.T, words string) *PassagesQuestion {
	t.Helper()
	c, err := query.Compile(words, []*analysis.Stemmer{analysis.StemmerFor("en"), analysis.StemmerFor("de")}, false)
	if err != nil {
		t.Fatal(err)
	}
	return &PassagesQuestion{Words: passageWordsOf(c.Words)}
}

func TestCountPassages(t *testing.T) {
	far := strings.Repeat("water and more water ", 8)
	for _, c := range []struct {
		words, title, text string
		want               float64
	}{
		{"mend torn nets", "", "Mend the torn nets.", 1},
		{"mend torn nets", "", "He mends nets that are torn.", 1},
		{"mend torn nets", "Torn nets", far, 2.0 / 3},
		{"mend torn nets", "Torn nets", "Mending.", 2.0 / 3}, // the title is a passage of its own
		{"mend torn nets", "", "Mend" + far + "torn" + far + "nets", 1.0 / 3},
		{"mend torn nets", "", "Nets. " + far + " Nets are torn here. " + far + " Mend.", 2.0 / 3},
		{"mend nets", "Mend nets", "Mending nets. Nets are mended." + far + "A mended net.", 4}, // none overlap
		{"mend nets", "", strings.Repeat("Mend nets. ", 100), passagesMost},
		{"the net in the sea", "", "A net of the sea", 1}, // stop words do not count
		{"happy ferries", "", "A happier ferryman", 1},
		{"ox cart", "", "The oxen and their carts", 0.5}, // a short word has to be the same
		{"net", "", "The networking of fishermen", 0},    // too long to be a form
		{"dry sky", "", "Drying skies", 1},
		{"flies try", "", "A fly that tried", 1},
		{"fly sky", "", "A flip on skis", 0},
		{"the key day", "", "Keys for days", 1},
		{"Häuser hafen", "", "Ein Haus am Hafen", 1},
		{"dying swan", "", "The swan died", 1}, // the stem, die, is not how the word begins
		{"рыбак сеть", "", "рыбаками и сетью", 1},
		{"net 京", "", "A net", 1}, // a single character says little
		{"mend nets", "", "", 0},
		{"the", "", "the the", 0},
	} {
		if got := passageQuestion(t, c.words).Count(c.title, c.text); got != c.want {
			t.Errorf("%q in %q, %q: %v, want %v", c.words, c.title, c.text, got, c.want)
		}
	}
	empty := PassagesQuestion{Words: []PassageWord{{}}} // as another process may send it
	if got := empty.Count("a title", "a text"); got != 0 {
		t.Errorf("no word: %v", got)
	}
}

// FuzzPassages: a count is a share or a number in its bounds, whatever the words and the text are.
func FuzzPassages(f *testing.F) {
	f.Add("mend torn nets", "He mends nets")
	f.Add("東京 c++ Häuser", "東京の家 c")
	f.Fuzz(func(t *testing.T, words, text string) {
		c, err := query.Compile(words, []*analysis.Stemmer{analysis.StemmerFor("en")}, false)
		if err != nil {
			t.Skip()
		}
		q := PassagesQuestion{Words: passageWordsOf(c.Words)}
		if n := q.Count(text, text); n < 0 || n > 2*passagesMost || n > 1 && n != math.Trunc(n) {
			t.Fatal(n)
		}
	})
}
