package query

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/indextest"

	"github.com/cockroachdb/datadriven"
)

// TestSpec runs testdata/spec: "parse langs=(en,de)" gives the FTS5 expressions of each query.
func TestQuerySpec(t *testing.T) {
	datadriven.Walk(t, "testdata/spec", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "parse" {
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			return specParse(d)
		})
	})
}

func specParse(d *datadriven.TestData) string {
	var inUse []*analysis.Stemmer
	for _, a := range d.CmdArgs {
		for _, l := range a.Vals {
			inUse = append(inUse, analysis.StemmerFor(l))
		}
	}
	var b strings.Builder
	for _, q := range strings.Split(d.Input, "\n") {
		c, err := Compile(q, inUse, false)
		if err != nil {
			fmt.Fprintf(&b, "[%s] usage: %v\n", q, err)
			continue
		}
		fmt.Fprintf(&b, "[%s]\n  all %s\n", q, c.Expr(AllWords))
		if c.Expr(SomeWords).String() != c.Expr(AllWords).String() {
			fmt.Fprintf(&b, "  any %s\n", c.Expr(SomeWords))
		}
		if c.Expr(AnyWord).String() != c.Expr(SomeWords).String() {
			fmt.Fprintf(&b, "  one %s\n", c.Expr(AnyWord))
		}
		for _, n := range c.Notes {
			fmt.Fprintf(&b, "  note: %s\n", n)
		}
		for _, n := range c.IfNothing {
			fmt.Fprintf(&b, "  note if nothing is found: %s\n", n)
		}
		if c.Ignored > 0 {
			fmt.Fprintf(&b, "  %d ignored\n", c.Ignored)
		}
	}
	return indextest.Visible(b.String())
}

// TestNarrow: what is added holds for the whole query, however that ends.
func TestNarrow(t *testing.T) {
	for query, want := range map[string]string{
		"a":                   "a site:x.org",
		"":                    "site:x.org",
		"a OR":                "a OR - site:x.org",
		"(a OR b":             "(a OR b ) site:x.org",
		"a OR (b OR":          "a OR (b OR -) site:x.org",
		"a OR (f(":            "a OR (f( ) site:x.org",
		"a OR intitle:(b (c":  "a OR intitle:(b (c )) site:x.org",
		`a OR (b "c`:          `a OR (b "c ) site:x.org`,
		"a)":                  "a) site:x.org",
		"a OR ((((((((((b OR": "a OR ((((((((((b OR ))-)))))))) site:x.org",
	} {
		got := Narrow(query, "site:x.org")
		if want != "" && got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
		s, err := parseQuery(got)
		if err != nil {
			t.Errorf("%s: %v", got, err)
			continue
		}
		if last := s.clauses[len(s.clauses)-1]; last.kind != clauseSite || last.text != "x.org" || s.unended != "" {
			t.Errorf("%s: the last clause is %+v, open is %q", got, last, s.unended)
		}
	}
}

// TestManyWords: names are compared with a bounded number of words, however many a query has.
func TestManyWords(t *testing.T) {
	var terms []string
	for i := range MaxClauses {
		var words []string
		for j := range 20 {
			words = append(words, fmt.Sprint("w", i, "x", j))
		}
		terms = append(terms, strings.Join(words, "."))
	}
	c, err := Compile(strings.Join(terms, " "), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.Words); n != maxWords || c.Words[0].Typed != "w0x0" || c.Words[n-1].Typed != "w3x3" {
		t.Errorf("%d words, from %s to %s", n, c.Words[0].Typed, c.Words[n-1].Typed)
	}
	if n := len(c.Terms); n != MaxClauses || len(c.Terms[n-1].Sequences[0]) != 20 {
		t.Errorf("%d terms", n)
	}
}
