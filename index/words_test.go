package index

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/webindexer/indexer/page"
)

// storedWordLines returns what is stored of words.
func storedWordLines(t *testing.T, r *Reader) string {
	t.Helper()
	var all strings.Builder
	_, err := inView(t.Context(), r, func(v *View) (struct{}, error) {
		rows, err := v.query(t.Context(), selectWords)
		if err != nil {
			return struct{}{}, err
		}
		defer rows.Close()
		for rows.Next() {
			var list string
			if err := rows.Scan(&list); err != nil {
				return struct{}{}, err
			}
			all.WriteString(list)
		}
		return struct{}{}, rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestPostponedWords: the first transaction of a writer that finds many stored words is committed
// before they are read, and its new words are stored once, soon after.
func TestPostponedWords(t *testing.T) {
	dir := t.TempDir()
	w := openTestWriter(t, dir)
	put := func(u, title string) Change {
		return Upsert(&Document{Cluster: key(u), Seq: 1, URL: page.URL(u), Title: title, Text: "text"})
	}
	var changes []Change
	n := 0
	for i := range 700 {
		var title strings.Builder
		for title.Len() < 400 {
			n++
			fmt.Fprintf(&title, "%s ", letters(n))
		}
		u := fmt.Sprintf("https://site.example/%d", i)
		changes = append(changes, put(u, title.String()))
	}
	apply(t, w, changes...)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	w = openTestWriter(t, dir)
	applied := w.Applied()
	apply(t, w, put("https://site.example/new", "unheardof "+letters(1)))
	apply(t, w, put("https://site.example/newer", "unheardof neverheardof"))
	if got := w.Applied() - applied; got != 3 {
		t.Errorf("%d transactions for two changes and the postponed words of the first, want 3", got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	list := storedWordLines(t, openTestReader(t, dir))
	if len(list) <= readFirst {
		t.Fatalf("%d bytes of words are not many", len(list))
	}
	for _, word := range []string{"unheardof", "neverheardof", letters(1), letters(n / 2)} {
		if got := strings.Count(list, "\n"+word+"\n"); got != 1 && !strings.HasPrefix(list, word+"\n") {
			t.Errorf("%q is stored %d times", word, got)
		}
	}
}

// letters writes a number as a word of ten letters.
func letters(n int) string {
	b := []byte("aaaaaaaaaa")
	for i := range b {
		b[i] += byte(n % 26)
		n = n/26 + 7*(i&1)
	}
	return string(b)
}

// TestWordsWhileRollingBack: the callers of Apply look words up while a transaction is rolled
// back, which forgets them. It is for the race detector.
func TestWordsWhileRollingBack(t *testing.T) {
	w := openTestWriter(t, t.TempDir())
	var failing sync.WaitGroup
	failing.Go(func() {
		for range 300 {
			if err := w.submit(t.Context(), 1, func(*tables) error { return ErrInvalid }); !errors.Is(err, ErrInvalid) {
				t.Error(err)
			}
		}
	})
	for i := range 100 {
		u := fmt.Sprintf("https://site.example/%d", i)
		apply(t, w, Upsert(&Document{Cluster: key(u), Seq: 1, URL: page.URL(u), Title: "title", Text: "text"}))
	}
	failing.Wait()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
