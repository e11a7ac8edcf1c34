package query

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/webindexer/indexer/index/analysis"
)

// TestExprWire: an expression is the same after a message has carried it.
func TestExprWire(t *testing.T) {
	for _, q := range []string{
		"harbour", `"ferry leaves" -museum`, "intitle:(a OR b) -inurl:c site:a.example lang:de filetype:pdf", "foo.BarBaz config",
		strings.Repeat("(a ", maxDepth) + "b" + strings.Repeat(") OR (c d)", maxDepth), strings.Repeat("word ", MaxClauses),
	} {
		c, err := Compile(q, []*analysis.Stemmer{analysis.StemmerFor("en"), analysis.StemmerFor("de")}, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []Breadth{AllWords, SomeWords, AnyWord} {
			want := c.Expr(b)
			if want == nil {
				continue
			}
			if n := nested(want); n > maxNested/2 {
				t.Errorf("%s: nested %d deep, too near to %d", q, n, maxNested)
			}
			message, err := want.GobEncode()
			if err != nil {
				t.Fatal(err)
			}
			got := new(Expr)
			if err := got.GobDecode(message); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v, %v; want %v", q, got, err, want)
			}
			for n := range message {
				if err := new(Expr).GobDecode(message[:n]); !errors.Is(err, errMessage) {
					t.Errorf("%s: the first %d of %d bytes: %v", q, n, len(message), err)
				}
			}
			if err := new(Expr).GobDecode(append(message, 0)); !errors.Is(err, errMessage) {
				t.Errorf("%s: a byte too many: %v", q, err)
			}
		}
	}
}

func nested(e *Expr) (most int) {
	for _, k := range e.Kids {
		most = max(most, 1+nested(k))
	}
	return most
}

// TestNestedTooDeeply: a message cannot make a process read it as deeply as it likes.
func TestNestedTooDeeply(t *testing.T) {
	e := phrase("a")
	for depth := 1; depth <= maxNested+1; depth++ {
		e = &Expr{Op: OpAnd, Kids: []*Expr{e, phrase("b")}}
		message, err := e.GobEncode()
		if err != nil {
			t.Fatal(err)
		}
		if err := new(Expr).GobDecode(message); (err == nil) != (depth <= maxNested) {
			t.Errorf("nested %d deep: %v", depth, err)
		}
	}
}
