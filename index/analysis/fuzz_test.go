package analysis

import (
	"testing"
	"unicode/utf8"

	"github.com/webindexer/indexer/index/indextest"
)

// FuzzTokenize: tokens lie in the text in order, are short, and FTS5's ascii tokenizer
// would not take them apart.
func FuzzTokenize(f *testing.F) {
	for _, s := range indextest.OddTexts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = Normalize(text)
		tok := new(Tokenizer)
		tok.Reset(text)
		last := 0
		for tok.Next() {
			k := tok.Token
			if k.Start < last || k.End <= k.Start || k.End > len(text) {
				t.Fatalf("range %d-%d after %d in %q", k.Start, k.End, last, text)
			}
			last = k.Start
			if len(k.Text) == 0 || len(k.Text) > maxToken && !k.Bigram || !utf8.Valid(k.Text) {
				t.Fatalf("token %q of %q", k.Text, text)
			}
			for _, r := range string(k.Text) {
				if r < utf8.RuneSelf && (asciiFold[r] == 0 || asciiFold[r] != byte(r)) || r >= 0xE000 && r < 0xE100 {
					t.Fatalf("token %q of %q has %q", k.Text, text, r)
				}
			}
		}
		for _, st := range stemmers {
			new(analyzer).column(text, st, nil)
		}
	})
}
