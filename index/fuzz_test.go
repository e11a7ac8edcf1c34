package index

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

var oddTexts = []string{
	"", " ", "\x00", "\xff\xfe", "a\u0301", "東京タワー", "ｱｲｳ", "é", "ß", "İstanbul", "don’t", "x'S", "H₂O ½ Ⅷ", "🏳️‍🌈🇩🇪🇫🇷", "นี่คือ", "한국어 한국어",
	"ﷺ", "ﬁle", "soft\u00adhyphen", "C++ C#", "_a_b_", strings.Repeat("ab", 100), strings.Repeat("漢", 300), strings.Repeat("e\u0301", 100), "か\u3099", "ǅ", "ſ",
	`"`, `""`, `-"a`, "site:", "site:[::1]:80", "site:bücher.de", "lang:x lang:y", "NEAR(a b, 2)", "a AND (b OR", "{title}:x", "intitle:x", `intitle:"x y" z`, `inurl:"`, `-intitle:"`, "intitle:東", "before:2024 after:1969-01-01", "after:1970-01-01", "before:9999", "a OR b", "OR", "(", ")", "a OR (", "(a OR", "((((((((((a OR", "-(a b)", "(a -b) OR c", "x OR (f(", `a OR "`, "intitle:(a OR", "filetype:txt", "site:a.b OR page", "inurl:a inurl:b -inurl:c", "^a*", "\uE000site", "-\uE073example", "a\uE000b",
}

// FuzzTokenize: tokens lie in the text in order, are short, and FTS5's ascii tokenizer
// would not take them apart.
func FuzzTokenize(f *testing.F) {
	for _, s := range oddTexts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = normalize(text)
		tok := new(tokenizer)
		tok.reset(text)
		last := 0
		for tok.next() {
			k := tok.tok
			if k.start < last || k.end <= k.start || k.end > len(text) {
				t.Fatalf("range %d-%d after %d in %q", k.start, k.end, last, text)
			}
			last = k.start
			if len(k.text) == 0 || len(k.text) > maxToken && !k.bigram || !utf8.Valid(k.text) {
				t.Fatalf("token %q of %q", k.text, text)
			}
			for _, r := range string(k.text) {
				if r < utf8.RuneSelf && (asciiFold[r] == 0 || asciiFold[r] != byte(r)) || r >= 0xE000 && r < 0xE100 {
					t.Fatalf("token %q of %q has %q", k.text, text, r)
				}
			}
		}
		for _, st := range stemmers {
			new(analyzer).column(text, st)
		}
	})
}

// FuzzParse: words and phrases are where they say in the query, groups and clauses keep
// their bounds, what is added by Narrow holds for all, and expressions can be taken apart.
func FuzzParse(f *testing.F) {
	for _, s := range oddTexts {
		f.Add(s)
		f.Add("(a OR " + s + ") b OR -(c " + s)
	}
	f.Fuzz(func(t *testing.T, q string) {
		s, err := parseQuery(q)
		if err != nil {
			return
		}
		leaves := 0
		var look func(list []clause, depth int)
		look = func(list []clause, depth int) {
			if depth > 2*maxQueryDepth+2 {
				t.Fatalf("%q is nested %d deep", q, depth)
			}
			for _, c := range list {
				switch c.kind {
				case clauseGroup:
					for _, side := range c.either {
						look(side, depth+1)
					}
					continue
				case clauseWord, clausePhrase, clauseTitle, clauseURL:
					if c.text == "" || c.at+len(c.text) > len(s.text) || s.text[c.at:c.at+len(c.text)] != c.text {
						t.Fatalf("%q: %+v is not in %q", q, c, s.text)
					}
				}
				leaves++
			}
		}
		if look(s.clauses, 0); leaves > maxQueryClauses {
			t.Fatalf("%q has %d clauses", q, leaves)
		}
		narrowed, err := parseQuery(Narrow(q, "lang:xx"))
		if n := len(narrowed.clauses); err == nil && (leaves < maxQueryClauses && (n == 0 || narrowed.clauses[n-1].text != "xx") || narrowed.unended != "") {
			t.Fatalf("%q, narrowed: %+v", q, narrowed)
		}
		c, err := compileQuery(q, []*stemmer{stemmers["en"]})
		if err != nil || len(c.terms) == 0 {
			return
		}
		for _, expr := range []string{c.expr(allWords), c.expr(someWords), c.expr(anyWord), c.expr(plainWord), c.named()} {
			if _, err := parseMatch(expr); err != nil && expr != "" {
				t.Fatalf("%q: %s: %v", q, expr, err)
			}
		}
	})
}

// FuzzQuery: no query is an error of SQLite, and results keep their bounds.
func FuzzQuery(f *testing.F) {
	for _, s := range oddTexts {
		f.Add(s)
		f.Add("page -" + s + ` "` + s + `" site:` + s)
	}
	dir := f.TempDir()
	w := openTestWriter(f, dir)
	docs := generate(30, 1)
	for i, s := range oddTexts {
		if i < len(docs) {
			docs[i].Doc.Text = "page " + s
		}
	}
	if err := w.Apply(f.Context(), docs); err != nil {
		f.Fatal(err)
	}
	r := openTestReader(f, dir)
	f.Fuzz(func(t *testing.T, q string) {
		for _, o := range []Options{{Sort: ByDate}, {PerHost: 1, Explain: true, NoSuggestion: true}} {
			if _, err := r.Search(t.Context(), q, o); err != nil && !errors.As(err, new(*UsageError)) {
				t.Fatalf("%q, %+v: %v", q, o, err)
			}
		}
		narrowed, err := r.Search(t.Context(), Narrow(q, "site:site1.example.org"), Options{Limit: 100})
		if err != nil && !errors.As(err, new(*UsageError)) {
			t.Fatalf("%q, narrowed: %v", q, err)
		}
		for i := range hitsOf(narrowed) {
			if u := narrowed.Hits[i].URL; !strings.Contains(strings.ToLower(q), "site:") && u.Host() != "site1.example.org" {
				t.Fatalf("%q, narrowed: %s", q, u)
			}
		}
		res, err := r.Search(t.Context(), q, Options{})
		if usage := (*UsageError)(nil); errors.As(err, &usage) {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", q, err)
		}
		if len(res.Hits) > 10 || len(res.Hits) > res.Total || res.AllWords > res.Total || len(res.Hits) < min(10, res.Total) {
			t.Fatalf("%q: %d hits of %d, with all words %d", q, len(res.Hits), res.Total, res.AllWords)
		}
	})
}

func hitsOf(res *Results) []Hit {
	if res == nil {
		return nil
	}
	return res.Hits
}

// FuzzSnippet: snippets are bounded, valid, and cut between characters; marks are in order.
func FuzzSnippet(f *testing.F) {
	for _, s := range oddTexts {
		f.Add(strings.Repeat(s+" text ", 60), "text")
		f.Add(strings.Repeat(s, 200), s)
	}
	f.Fuzz(func(t *testing.T, text, q string) {
		var terms []*term
		if c, err := compileQuery(q, []*stemmer{stemmers["en"]}); err == nil {
			terms = c.terms
		}
		s := makeSnippet(text, false, newMatcher(terms, "en"))
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
		whole := "…" + normalize(strings.ToValidUTF8(text, "\uFFFD")) + "…"
		if !strings.Contains(whole, strings.Trim(s.Text, "…")) {
			t.Fatalf("%q is not of the text", s.Text)
		}
		if plain := s.Render("", "", nil); plain != s.Text {
			t.Fatalf("rendered without marks %q", plain)
		}
	})
}
