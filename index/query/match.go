package query

import (
	"fmt"
	"strings"

	"indexer/index/analysis"
	"indexer/index/postings"
)

// Expressions are FTS5's (expr.go), and FTS5 is asked them where the order has nothing to
// do with words. Where documents are scored, they are taken apart here and answered
// from the lists of their phrases (matches.go); the tests hold the two together. What is known of the
// language is what expr.go writes: phrases, " *" for prefixes, AND, OR, NOT,
// parentheses and column filters.

// matchExpr is an expression taken apart.
type Match struct {
	Op     Op
	Kids   []*Match         // of opNot two: what matches, and what must not
	Phrase Phrase           // of opPhrase
	In     postings.Columns // of opPhrase: the columns that count
}

type Op int

const (
	OpPhrase Op = iota
	OpAnd
	OpOr
	OpNot
)

// phraseOf is the tokens of a phrase with spaces between; with prefix, the last is the beginning of one.
type Phrase struct {
	Tokens string
	Prefix bool
}

// String is the phrase as FTS5 has it.
func (p Phrase) String() string {
	if p.Prefix {
		return quote(p.Tokens) + " *"
	}
	return quote(p.Tokens)
}

func ParseMatch(expr string) (*Match, error) {
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
func (p *matchParser) or(in postings.Columns) (*Match, error) {
	return p.list(OpOr, " OR ", in, p.and)
}

func (p *matchParser) and(in postings.Columns) (*Match, error) {
	return p.list(OpAnd, " AND ", in, p.not)
}

func (p *matchParser) list(op Op, word string, in postings.Columns, kid func(postings.Columns) (*Match, error)) (*Match, error) {
	e := &Match{Op: op}
	for {
		k, err := kid(in)
		if err != nil {
			return nil, err
		}
		e.Kids = append(e.Kids, k)
		if !p.take(word) {
			break
		}
	}
	if len(e.Kids) == 1 {
		return e.Kids[0], nil
	}
	return e, nil
}

func (p *matchParser) not(in postings.Columns) (*Match, error) {
	e, err := p.single(in)
	for err == nil && p.take(" NOT ") {
		var k *Match
		k, err = p.single(in)
		e = &Match{Op: OpNot, Kids: []*Match{e, k}}
	}
	return e, err
}

func (p *matchParser) single(in postings.Columns) (*Match, error) {
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
		return &Match{Phrase: Phrase{tokens, p.take(" *")}, In: in}, nil
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
	for i, c := range analysis.ColumnNames {
		if c == name {
			return i
		}
	}
	return -1
}

// scored calls fn with the phrases that count for the score, in the order in which they stand.
func (e *Match) Scored(fn func(*Match)) {
	switch e.Op {
	case OpPhrase:
		fn(e)
	case OpNot:
		e.Kids[0].Scored(fn)
	default:
		for _, k := range e.Kids {
			k.Scored(fn)
		}
	}
}
