package index

import (
	"fmt"
	"strings"

	"indexer/index/postings"
)

// Expressions are FTS5's (query_expr.go), and FTS5 is asked them where the order has nothing to
// do with words. Where documents are scored, they are taken apart here and answered
// from the lists of their phrases (matches.go); the tests hold the two together. What is known of the
// language is what query_expr.go writes: phrases, " *" for prefixes, AND, OR, NOT,
// parentheses and column filters.

// matchExpr is an expression taken apart.
type matchExpr struct {
	op     matchOp
	kids   []*matchExpr     // of opNot two: what matches, and what must not
	phrase phraseOf         // of opPhrase
	in     postings.Columns // of opPhrase: the columns that count
}

type matchOp int

const (
	opPhrase matchOp = iota
	opAnd
	opOr
	opNot
)

// phraseOf is the tokens of a phrase with spaces between; with prefix, the last is the beginning of one.
type phraseOf struct {
	tokens string
	prefix bool
}

// String is the phrase as FTS5 has it.
func (p phraseOf) String() string {
	if p.prefix {
		return quote(p.tokens) + " *"
	}
	return quote(p.tokens)
}

// ftsColumns are the columns of the table fts, in their order.
var ftsColumns = []string{"title", "body", "anchors", "outside", "url", "tags"}

func parseMatch(expr string) (*matchExpr, error) {
	p := matchParser{rest: expr}
	e, err := p.or(postings.AllColumns)
	if err == nil && p.rest != "" {
		err = p.wrong("the end")
	}
	return e, err
}

type matchParser struct{ rest string }

func (p *matchParser) wrong(wanted string) error {
	return fmt.Errorf("full-text expression: %s wanted at %q", wanted, p.rest)
}

// take takes a word, with spaces around it, off the expression, if it stands there.
func (p *matchParser) take(word string) bool {
	rest, ok := strings.CutPrefix(p.rest, word)
	if ok {
		p.rest = rest
	}
	return ok
}

// NOT binds strongest, then AND, then OR.
func (p *matchParser) or(in postings.Columns) (*matchExpr, error) {
	return p.list(opOr, " OR ", in, p.and)
}

func (p *matchParser) and(in postings.Columns) (*matchExpr, error) {
	return p.list(opAnd, " AND ", in, p.not)
}

func (p *matchParser) list(op matchOp, word string, in postings.Columns, kid func(postings.Columns) (*matchExpr, error)) (*matchExpr, error) {
	e := &matchExpr{op: op}
	for {
		k, err := kid(in)
		if err != nil {
			return nil, err
		}
		e.kids = append(e.kids, k)
		if !p.take(word) {
			break
		}
	}
	if len(e.kids) == 1 {
		return e.kids[0], nil
	}
	return e, nil
}

func (p *matchParser) not(in postings.Columns) (*matchExpr, error) {
	e, err := p.single(in)
	for err == nil && p.take(" NOT ") {
		var k *matchExpr
		k, err = p.single(in)
		e = &matchExpr{op: opNot, kids: []*matchExpr{e, k}}
	}
	return e, err
}

func (p *matchParser) single(in postings.Columns) (*matchExpr, error) {
	switch {
	case p.take("("):
		e, err := p.or(in)
		if err == nil && !p.take(")") {
			err = p.wrong(")")
		}
		return e, err
	case p.take(`"`):
		tokens, rest, ok := strings.Cut(p.rest, `"`)
		if !ok {
			return nil, p.wrong("a quote")
		}
		p.rest = rest
		return &matchExpr{phrase: phraseOf{tokens, p.take(" *")}, in: in}, nil
	}
	names, rest, ok := strings.Cut(p.rest, " : ")
	if !ok {
		return nil, p.wrong("a phrase")
	}
	columns := postings.Columns(0)
	for name := range strings.FieldsSeq(strings.Trim(names, "{}")) {
		c := columnNumber(name)
		if c < 0 {
			return nil, p.wrong("a column")
		}
		columns |= 1 << c
	}
	p.rest = rest
	return p.single(in & columns)
}

func columnNumber(name string) int {
	for i, c := range ftsColumns {
		if c == name {
			return i
		}
	}
	return -1
}

// scored calls fn with the phrases that count for the score, in the order in which they stand.
func (e *matchExpr) scored(fn func(*matchExpr)) {
	switch e.op {
	case opPhrase:
		fn(e)
	case opNot:
		e.kids[0].scored(fn)
	default:
		for _, k := range e.kids {
			k.scored(fn)
		}
	}
}
