package schema

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/store"
)

// TestParseURLRowAgain: on repeated and concurrent calls, a row has the same URL, even
// where rows evict each other; a bad row stays bad.
func TestParseURLRowAgain(t *testing.T) {
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for i := range 3 * len(urlCache) {
				want := page.URL(fmt.Sprintf("https://a%d.example/p?q=%d", i%7, i%10_000))
				got, err := ParseURLRow(URLRow(want))
				if err != nil || got != want {
					t.Errorf("%s: %s, %v", want, got, err)
					return
				}
			}
		})
	}
	work.Wait()
	for range 2 {
		if u, err := ParseURLRow("example.a/https/a b"); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("a row that is none: %q, %v", u, err)
		}
	}
}

// BenchmarkParseURLRow is of rows that were read lately, and of others.
func BenchmarkParseURLRow(b *testing.B) {
	rows := make([]string, 1_000_000)
	for i := range rows {
		rows[i] = URLRow(page.URL(fmt.Sprintf("https://www.example.com/docs/page-%d.html", i)))
	}
	for name, n := range map[string]int{"again": 1000, "new": len(rows)} {
		b.Run(name, func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, err := ParseURLRow(rows[i%n]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
