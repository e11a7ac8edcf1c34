package analysis

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestStemCache: whatever the cache has forgotten or kept, the stem is the
// stemmer's; words that do not fit are not mixed up with others.
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
