package crawler

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/webindexer/indexer/page"
)

// TestShingles compares the shingles of texts with those of every three words in a row.
func TestShingles(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 4, 1000, 1026, 1027, 2050, 2051, 10_000} {
		var words []string
		for i := range n {
			words = append(words, "x"+strings.Map(func(digit rune) rune { return digit - '0' + 'a' }, fmt.Sprint(i%7000)))
		}
		var want shingles
		for i := range max(n-2, 1) {
			want = append(want, uint32(xxhash.Sum64String(strings.Join(words[i:min(i+3, n)], " "))))
		}
		slices.Sort(want)
		want = slices.Compact(want)
		want = want[:min(len(want), maxShingles)]
		if got := newShingles(lastingWords(strings.Join(words, ", 12 May: "))); !slices.Equal(got, want) {
			t.Errorf("%d words: %d shingles, or others, want %d", n, len(got), len(want))
		}
	}
}

// TestShinglesOfLargePage: millions of words take no more memory than their text a few times.
func TestShinglesOfLargePage(t *testing.T) {
	f := &page.Fetch{
		URL: "https://a.example/", Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/plain"}},
		Body: []byte(strings.Repeat("a ", 2<<20)),
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if says, isPage := shinglesOf(f); len(says) != 1 || !isPage {
		t.Errorf("%d shingles", len(says))
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8*uint64(len(f.Body)) {
		t.Errorf("%d bytes were allocated for a page of %d", n, len(f.Body))
	}
}
