package query

import (
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/analysis"
)

// TestSynonyms: the table has each word once per line, and documents can have what is found in
// it.
func TestSynonyms(t *testing.T) {
	for line := range strings.Lines(synonyms) {
		group := quotedFields(line)
		if line != "\n" && len(group) < 2 {
			t.Errorf("%q: a word without another one", line)
		}
		stems := make(map[string]bool)
		for _, w := range group {
			stem := w
			if !strings.Contains(w, " ") {
				stem = english.Stem(w)
			}
			if stems[stem] {
				t.Errorf("%q: %s is there twice", line, w)
			}
			stems[stem] = true
			var tok analysis.Tokenizer
			n := 0
			for tok.Reset(w); tok.Next(); n++ {
			}
			if w != strings.ToLower(w) || n != len(strings.Fields(w)) {
				t.Errorf("%q: %s is not written as the index has it", line, w)
			}
			if analysis.IsStopWord(w, "en") {
				t.Errorf("%q: %s is a stop word", line, w)
			}
		}
	}
	for stem, others := range synonymsOf {
		if len(others) > 12 {
			t.Errorf("%s has %d other words", stem, len(others))
		}
	}
}

func TestOtherwise(t *testing.T) {
	inUse := []*analysis.Stemmer{analysis.StemmerFor("en")}
	for q, want := range map[string]string{
		"deleting ferries":         "remov eras", // by the stem of the word
		"delete or remove":         "eras uninstal drop",
		`"delete" ferry`:           "",
		"intitle:delete ferry":     "",
		"ferry -delete":            "",
		"ferry -(delete OR erase)": "",
		"ferry museum":             "",
		"tutorial":                 "introduct get start quick start first step primer guid howto",
	} {
		c, err := Compile(q, inUse, false)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range c.Words {
			got = append(got, w.Otherwise...)
			for _, p := range w.OtherPhrases {
				got = append(got, p...)
			}
		}
		for _, w := range strings.Fields(want) {
			if !slices.Contains(got, w) {
				t.Errorf("%q: %q lacks %s", q, got, w)
			}
		}
		if (want == "") != (len(got) == 0) || (want == "") != (c.Otherwise() == nil) {
			t.Errorf("%q: %q, %v", q, got, c.Otherwise())
		}
		if c, err = Compile(q, nil, true); err != nil || c.Otherwise() != nil {
			t.Errorf("%q as typed: %v (%v)", q, c.Otherwise(), err)
		}
	}
	c, err := Compile("delete ferry", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	const named = `({title anchors outside} : ("delete" OR "remove" OR "erase") AND {title anchors outside} : "ferry")`
	if got := c.Otherwise().String(); got != "("+named+` NOT ("delete" AND "ferry"))` {
		t.Errorf("expression %s", got)
	}
	if got := c.Expr(AllWords).String(); got != `("delete" AND "ferry")` {
		t.Errorf("all words are %s", got)
	}
}

// TestSpellings: a word is looked for in both spellings, as if one were short for the other.
func TestSpellings(t *testing.T) {
	for q, want := range map[string]string{
		"colour":       `("colour" OR "color")`,
		"catalogs":     `("catalogs" OR "catalogues")`,
		"colour color": `("colour" AND "color")`,
		`"colour"`:     `"colour"`,
	} {
		c, err := Compile(q, nil, false)
		if err != nil || c.Expr(AllWords).String() != want {
			t.Errorf("%s: %v, %v", q, c.Expr(AllWords), err)
		}
	}
	for line := range strings.Lines(strings.TrimSpace(spellings)) {
		if len(strings.Fields(line)) != 2 {
			t.Errorf("%q is no pair", line)
		}
	}
}
