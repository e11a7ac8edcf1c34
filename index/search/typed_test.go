package search

import (
	"testing"
)

// TestTypedWords: which words are looked for, and that folding and joined words are treated as in the
// rest of the index.
func TestTypedWords(t *testing.T) {
	q := TypedQuestion{Words: []string{"polished", "cafe"}}
	for _, c := range []struct {
		title, url, anchors, text string
		want                      bool
	}{
		{"", "", "", "a polished Café", true},
		{"POLISHED", "", "", "cafe\u0301", true},
		{"", "https://cafe.example/polished", "", "", true},
		{"", "", `[{"text":"polished café","count":1}]`, "", true},
		{"", "", "", "polishes cafes", false},
		{"", "", "", "unpolished cafe", false},
		{"", "", "", "", false},
	} {
		w := q.Look(1)
		if goOn := w.InHead(c.title, c.url, c.anchors, c.text, false); goOn || w.Typed().All != c.want {
			t.Errorf("%+v: %v, %v", c, w.Typed(), goOn)
		}
	}
}
