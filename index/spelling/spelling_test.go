package spelling

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/internal/testenv"
)

func TestEditDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "ab", 1}, {"abc", "xbc", 1}, {"museum", "musuem", 1}, {"abcd", "badc", 2}, {"kitten", "sitting", 3}, {"é", "e", 1}, {"a", "abcdef", 3}} {
		if got := Distance(tt.a, tt.b, 2); min(got, 3) != tt.want || Distance(tt.b, tt.a, 2) != got {
			t.Errorf("%q, %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestNear: a list gives the words within a distance, and none beyond it, whatever the
// letters are; it also finds misspellings of folded words.
func TestNear(t *testing.T) {
	words := strings.Fields("museum museums harbour harbor über uber Straße москва kitten mitten sitting aaaa " +
		"abcdefghijklmnopqrstuvwx abcdefghijklmnopqrstuvwxy abcdefghijklmnopqrstuvwxyz")
	var list []byte
	for _, w := range words {
		list = AppendLine(list, w)
	}
	prepared := NewList(list)
	rng := testenv.Random(t)
	typed := []string{"musuem", "harbour", "ubr", "strase", "моксва", "sitten", "", "zzzz", "abcdefghijklmnopqrstuvw", "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyzabcdef"}
	for range 200 {
		letters := []rune(Fold(words[rng.IntN(len(words))]))
		for range rng.IntN(4) {
			letters[rng.IntN(len(letters))] = []rune("aesüм")[rng.IntN(5)]
		}
		typed = append(typed, string(letters))
	}
	for _, typed := range typed {
		for most := 1; most <= 2; most++ {
			var got, want []string
			prepared.Near(typed, most, func(word string, distance int) { got = append(got, fmt.Sprint(word, distance)) })
			for _, w := range words {
				if d := Distance(typed, Fold(w), most); d > 0 && d <= most {
					want = append(want, fmt.Sprint(w, d))
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("%q, %d edits: %v, want %v", typed, most, got, want)
			}
		}
	}
}

// TestVocabulary: a word of a title is stored at once, a word of a text when a second
// document has it, each once, also by a vocabulary that has only read what is stored.
func TestVocabulary(t *testing.T) {
	var v Vocabulary
	add := func(title, text string) []string {
		var c Collector
		(&analysis.Document{Title: title, Text: text}).AnalyzeWords(c.Add)
		words := c.Words(&v)
		return v.Add(&words)
	}
	steps := []struct {
		title, text string
		want        []string
	}{
		{"Harbour harbour Über", "nets ropes harbour rope", []string{"harbour", "über"}},
		{"", "NETS ropes uber x1234", []string{"nets", "ropes"}},
		{"Harbour", "nets ropes " + strings.Repeat("- ", textBytes/2) + "rope", nil},
		{"uber", "rope", []string{"uber", "rope"}},
		{"te" + strings.Repeat("\u0301", 200) + "xt", "", nil},
	}
	var list []byte
	for _, s := range steps {
		got := add(s.title, s.text)
		if !slices.Equal(got, s.want) {
			t.Fatalf("%+v: %q", s, got)
		}
		for _, w := range got {
			list = AppendLine(list, w)
		}
	}
	v.Reset()
	v.Know(list)
	if got := add("harbour über uber rope nets newest", ""); !slices.Equal(got, []string{"newest"}) {
		t.Errorf("after reading what is stored: %q", got)
	}
}

// FuzzNear: no list and no word makes it fail, and every word it gives is as near as it says.
func FuzzNear(f *testing.F) {
	f.Add([]byte("word\nüber\tuber\n"), "wort", 1)
	f.Fuzz(func(t *testing.T, list []byte, typed string, most int) {
		most = 1 + most&1
		if len(typed) > 50 || len(list) > 500 {
			return
		}
		NewList(list).Near(typed, most, func(word string, distance int) {
			if distance < 1 || distance > most {
				t.Fatalf("%q: %d edits", word, distance)
			}
		})
	})
}

// BenchmarkNear prepares 200,000 words, and looks for neighbours of a word that is about as long as
// all of them and has none.
func BenchmarkNear(b *testing.B) {
	var list []byte
	for i := range int64(200_000) {
		list = AppendLine(list, strconv.FormatInt(7919*i, 26))
	}
	b.Run("prepare", func(b *testing.B) {
		for b.Loop() {
			NewList(list)
		}
	})
	b.Run("near", func(b *testing.B) {
		l := NewList(list)
		for b.Loop() {
			l.Near("qwertyu", 2, func(word string, _ int) { b.Fatal(word) })
		}
	})
}
