package snippet

import (
	"encoding/json"
	"html"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/indextest"
	"github.com/webindexer/indexer/index/query"
)

// FuzzSnippet: snippets are bounded, valid, and cut between characters; marks are in order.
func FuzzSnippet(f *testing.F) {
	for _, s := range indextest.OddTexts {
		f.Add(strings.Repeat(s+" text ", 60), "text")
		f.Add(strings.Repeat(s, 200), s)
	}
	f.Fuzz(func(t *testing.T, text, q string) {
		var terms []*query.Term
		if c, err := query.Compile(q, []*analysis.Stemmer{analysis.StemmerFor("en")}); err == nil {
			terms = c.Terms
		}
		s := Make(text, false, NewMatcher(terms, "en"))
		if !utf8.ValidString(s.Text) {
			t.Fatalf("snippet %q", s.Text)
		}
		pos := 0
		for i, m := range s.Marks {
			if m.Start < pos || m.End <= m.Start || m.End > len(s.Text) || i > 0 && m.Start == pos {
				t.Fatalf("marks %v of %q", s.Marks, s.Text)
			}
			if !utf8.ValidString(s.Text[m.Start:m.End]) {
				t.Fatalf("mark %v splits a character of %q", m, s.Text)
			}
			pos = m.End
		}
		whole := "…" + analysis.Normalize(strings.ToValidUTF8(text, "\uFFFD")) + "…"
		if !strings.Contains(whole, strings.Trim(s.Text, "…")) {
			t.Fatalf("%q is not of the text", s.Text)
		}
		if plain := s.Render("", "", nil); plain != s.Text {
			t.Fatalf("rendered without marks %q", plain)
		}
	})
}
func TestSnippetRendering(t *testing.T) {
	s := Snippet{Text: "a <b> & c", Marks: []Range{{2, 5}}}
	if got := s.Render("<mark>", "</mark>", html.EscapeString); got != "a <mark>&lt;b&gt;</mark> &amp; c" {
		t.Error(got)
	}
	if b, err := json.Marshal(s); err != nil || string(b) != `"a \u003cb\u003e \u0026 c"` {
		t.Errorf("%s %v", b, err)
	}
}
