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
	"github.com/webindexer/indexer/page"
)

// FuzzSnippet: snippets are bounded, valid, and cut between characters; marks are in order.
func FuzzSnippet(f *testing.F) {
	for _, s := range indextest.OddTexts {
		f.Add(strings.Repeat(s+" text ", 60), "text", 0, 0)
		f.Add(strings.Repeat(s, 200), s, 3, 90)
	}
	f.Fuzz(func(t *testing.T, text, q string, from, to int) {
		var terms []*query.Term
		if c, err := query.Compile(q, []*analysis.Stemmer{analysis.StemmerFor("en")}, false); err == nil {
			terms = c.Terms
		}
		s := Make(Source{Text: text}, NewMatcher(terms, "en"))
		if !utf8.ValidString(s.Text) || len(s.Text) > snippetBytes+2*len(ellipsis) {
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
		if from >= 0 && from < to && to <= len(text) && from > 0 {
			checkMain(t, text, NewMatcher(terms, "en"), page.Range{Start: from, End: to})
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

// checkMain: with any main content, snippets are valid and their marks are in them.
func checkMain(t *testing.T, text string, m *matcher, main page.Range) {
	s := Make(Source{Text: text, Main: []page.Range{{Start: 0, End: main.Start / 2}, main}, More: true, Repeated: func(slot uint16) bool { return slot%3 > 0 }}, m)
	if !utf8.ValidString(s.Text) && utf8.ValidString(text[:main.Start/2]) && utf8.ValidString(text[main.Start:main.End]) {
		t.Fatalf("snippet %q", s.Text)
	}
	for _, m := range s.Marks {
		if m.Start < 0 || m.End <= m.Start || m.End > len(s.Text) {
			t.Fatalf("marks %v of %q", s.Marks, s.Text)
		}
	}
}

// TestMainContent: the brackets in a text are around its main content.
func TestMainContent(t *testing.T) {
	menu := "Home Docs Reindex Verify "
	for _, c := range []struct{ title, text, query, want string }{
		{"", menu + "[How to reindex: wait.] Reindex again", "reindex", "How to **reindex**: wait."},
		{"", "[Reindex.] " + menu + "[Then verify.]", "verify", "Reindex. … Then **verify**."},
		{"Reindexing", menu + "[How to do it.]", "verify", "Home Docs Reindex **Verify** How to do it."}, // the words are in the menu alone
		{"Verify", menu + "[How to do it.]", "verify", "How to do it."},                                  // and in the title
		{"Verify", menu + "[How to do it.]", "verify docs", "Home **Docs** Reindex **Verify** How to do it."},
		{"", menu + "[How to do it.]", "nothing", "How to do it."},
		{"", "[Set mod_rewrite: __mod_rewrite__ mod rewrite_x.]", "mod_rewrite", "Set **mod_rewrite**: __**mod_rewrite**__ **mod** **rewrite**_x."},
		{"", menu + "no division", "docs", "Home **Docs** Reindex Verify no division"},
		{"", "menu [e\u0301tude re\u0301sumée] menu", "resumee", "étude **résumée**"}, // not in normal form
	} {
		s := Source{Title: c.title}
		for i, part := range strings.FieldsFunc(c.text, func(r rune) bool { return r == '[' || r == ']' }) {
			if strings.ContainsAny(c.text, "[") && (i%2 == 0) == strings.HasPrefix(c.text, "[") {
				s.Main = append(s.Main, page.Range{Start: len(s.Text), End: len(s.Text) + len(part)})
			}
			s.Text += part
		}
		q, err := query.Compile(c.query, []*analysis.Stemmer{analysis.StemmerFor("en")}, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := Make(s, NewMatcher(q.Terms, "en")).Render("**", "**", nil); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.query, c.text, got, c.want)
		}
	}
}

// TestPhrase: the snippet has the phrase that the query quotes, wherever it is, and not only some of
// its words.
func TestPhrase(t *testing.T) {
	far := strings.Repeat(" The body of the page asks for nothing, and the requests of others wait.", 8)
	for _, c := range []struct{ query, text, want string }{
		{`"the request body"`, "The request has a body." + far + " It discards the request body." + far, "It discards **the** **request** **body**"},
		{`"the request body"`, "The request." + far + " It discards the request-bodies." + far, "It discards **the** **request**-**bodies**."},
		{`"the request body" wait`, "The request, the body." + far + " Wait for the request body." + far, "**Wait** for **the** **request** **body**."},
		{`"the request body"`, "A request without one." + far + " the request", "**The** **body** of **the** page"}, // the phrase is elsewhere
		{`"body of the request"`, "body" + far + " the body of the body of the request", "**the** **body** **of** **the** **body** **of** **the** **request**"},
		{`"東京都庁"`, "東京と都庁" + far + " 東京都庁へ" + far, " **東京都庁**へ"},
	} {
		q, err := query.Compile(c.query, []*analysis.Stemmer{analysis.StemmerFor("en")}, false)
		if err != nil {
			t.Fatal(err)
		}
		m := NewMatcher(q.Terms, "en")
		for range 2 {
			if got := Make(Source{Text: c.text}, m).Render("**", "**", nil); !strings.Contains(got, c.want) {
				t.Errorf("%s: %q, want %q", c.query, got, c.want)
			}
		}
	}
}

// TestLongWord: a word that is longer than a snippet, such as letters with very many marks, is not
// shown as a match.
func TestLongWord(t *testing.T) {
	for _, long := range []string{"te" + strings.Repeat("\u0301", 16_000) + "xt", strings.Repeat("qwerty", 5_000)} {
		var tok analysis.Tokenizer
		tok.Reset(long)
		tok.Next()
		q, err := query.Compile(string(tok.Token.Text), nil, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{long, "before " + long + " behind", strings.Repeat("before ", 50) + long} {
			s := Make(Source{Text: text}, NewMatcher(q.Terms, ""))
			if len(s.Text) > snippetBytes+2*len(ellipsis) || !utf8.ValidString(s.Text) {
				t.Errorf("a snippet of %d bytes: %.40q", len(s.Text), s.Text)
			}
		}
	}
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
