package query

import (
	"strings"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/postings"
)

// Expr is a full-text expression: which documents match, and which of its phrases count
// for their scores. Package index walks the tree and reads posting lists. Tests on random
// queries compare the results with those of FTS5 for [Expr.String].
//
// A nil Expr means no condition.
type Expr struct {
	Op     Op
	Kids   []*Expr          // of OpNot two: what matches, and what must not
	Phrase Phrase           // of OpPhrase
	In     postings.Columns // of OpPhrase: the columns that count

	Within string // column filter of this node, as FTS5 writes it; In of the phrases below has it too
}

// Op is what a node of an expression does.
type Op int

// The operations.
const (
	OpPhrase Op = iota
	OpAnd
	OpOr
	OpNot
)

var opWords = [...]string{OpAnd: " AND ", OpOr: " OR ", OpNot: " NOT "}

// Phrase has the tokens of a phrase with spaces between them; with Prefix, the last is the beginning
// of a token.
type Phrase struct {
	Tokens string
	Prefix bool
}

// String returns the phrase in the syntax of FTS5. Tokens never hold quotes.
func (p Phrase) String() string {
	if p.Prefix {
		return `"` + p.Tokens + `" *`
	}
	return `"` + p.Tokens + `"`
}

func phrase(tokens string) *Expr {
	return &Expr{Phrase: Phrase{Tokens: tokens}, In: postings.AllColumns}
}

// tag matches documents with a tag.
func tag(kind rune, value string) *Expr { return phrase(analysis.Tag(kind, value)) }

// Tagged returns the expression of the documents of e, nil meaning all, that also have a
// tag: those that site:, lang: or filetype: finds.
func Tagged(e *Expr, kind rune, value string) *Expr { return join(OpAnd, e, tag(kind, value)) }

// join combines the expressions that are not nil. If all are nil, it returns nil.
func join(op Op, list ...*Expr) *Expr {
	kids := make([]*Expr, 0, len(list))
	for _, e := range list {
		if e != nil {
			kids = append(kids, e)
		}
	}
	switch len(kids) {
	case 0:
		return nil
	case 1:
		return kids[0]
	}
	return &Expr{Op: op, Kids: kids}
}

// limit limits a new expression, which nothing else refers to, to columns.
func (e *Expr) limit(columns ...string) *Expr {
	e.Within = columns[0]
	if len(columns) > 1 {
		e.Within = "{" + strings.Join(columns, " ") + "}"
	}
	set := postings.Columns(0)
	for i, name := range analysis.ColumnNames {
		for _, c := range columns {
			if c == name {
				set |= 1 << i
			}
		}
	}
	e.phrases(func(p *Expr) { p.In &= set })
	return e
}

// phrases calls fn with every phrase of the expression.
func (e *Expr) phrases(fn func(*Expr)) {
	if e.Op == OpPhrase {
		fn(e)
	}
	for _, k := range e.Kids {
		k.phrases(fn)
	}
}

// Scored lists the phrases that count for the score, in the order of the expression.
// Excluded phrases do not count.
func (e *Expr) Scored() (list []*Expr) {
	switch e.Op {
	case OpPhrase:
		return []*Expr{e}
	case OpNot:
		return e.Kids[0].Scored()
	}
	for _, k := range e.Kids {
		list = append(list, k.Scored()...)
	}
	return list
}

// String returns the expression in the syntax of FTS5, "" for nil. Expressions with equal
// strings are equal.
func (e *Expr) String() string {
	var b strings.Builder
	if e != nil {
		e.write(&b)
	}
	return b.String()
}

func (e *Expr) write(b *strings.Builder) {
	if e.Within != "" {
		b.WriteString(e.Within + " : ")
	}
	if e.Op == OpPhrase {
		b.WriteString(e.Phrase.String())
		return
	}
	b.WriteByte('(')
	for i, k := range e.Kids {
		if i > 0 {
			b.WriteString(opWords[e.Op])
		}
		k.write(b)
	}
	b.WriteByte(')')
}
