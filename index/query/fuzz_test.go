package query

import (
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/indextest"
)

// FuzzParse: words and phrases are where they say in the query, groups and clauses keep
// their bounds, what is added by Narrow holds for all, and expressions are well formed.
func FuzzParse(f *testing.F) {
	for _, s := range indextest.OddTexts {
		f.Add(s)
		f.Add("(a OR " + s + ") b OR -(c " + s)
	}
	f.Add(strings.Repeat("a ", MaxClauses))
	f.Fuzz(func(t *testing.T, q string) {
		s, err := parseQuery(q)
		if err != nil {
			return
		}
		words, operators := 0, 0
		var look func(list []clause, depth int)
		look = func(list []clause, depth int) {
			if depth > 2*maxDepth+2 {
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
				if c.isOperator() {
					operators++
				} else {
					words++
				}
			}
		}
		if look(s.clauses, 0); words > MaxClauses || operators > MaxClauses {
			t.Fatalf("%q has %d words and %d operators", q, words, operators)
		}
		narrowed, err := parseQuery(Narrow(q, "lang:xx"))
		if n := len(narrowed.clauses); err == nil && (operators < MaxClauses && (n == 0 || narrowed.clauses[n-1].text != "xx") || narrowed.unended != "") {
			t.Fatalf("%q, narrowed: %+v", q, narrowed)
		}
		c, err := Compile(q, []*analysis.Stemmer{analysis.StemmerFor("en")}, false)
		if err != nil || len(c.Terms) == 0 {
			return
		}
		for _, e := range []*Expr{c.Expr(AllWords), c.Expr(SomeWords), c.Expr(AnyWord), c.Expr(PlainWord), c.Named()} {
			if e != nil {
				checkExpr(t, e)
			}
		}
	})
}

// checkExpr fails if a node has no children that it needs, or a phrase would end an FTS5 string.
func checkExpr(t *testing.T, e *Expr) {
	t.Helper()
	if e.Op == OpPhrase && (len(e.Kids) > 0 || e.Phrase.Tokens == "" || strings.Contains(e.Phrase.Tokens, `"`)) ||
		e.Op == OpNot && len(e.Kids) != 2 || e.Op != OpPhrase && len(e.Kids) < 2 {
		t.Fatalf("%v: %+v", e, *e)
	}
	for _, k := range e.Kids {
		checkExpr(t, k)
	}
}
