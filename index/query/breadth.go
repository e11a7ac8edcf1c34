package query

import (
	"slices"
	"strings"

	"github.com/webindexer/indexer/index/analysis"
)

// Breadth says which documents a query finds. A greater breadth finds whatever a smaller
// one finds, except that [PlainWord] drops what the others require.
type Breadth int

// The breadths. Filters and exclusions hold in each of them.
const (
	AllWords  Breadth = iota // documents with all the words
	SomeWords                // with any word that is neither a stop word nor common; phrases and operators are required
	AnyWord                  // with any word at all, or with the phrases and operators alone
	PlainWord                // with any word that is neither in quotes nor after intitle: or inurl:
)

// Expr returns the expression of the documents that the query finds, or nil for none.
func (q *Query) Expr(b Breadth) *Expr {
	if b == AllWords {
		return q.all((*Term).Expr)
	}
	return q.some(b)
}

// Partial returns the expression of documents that SomeWords finds and AllWords does not.
func (q *Query) Partial() *Expr {
	return &Expr{Op: OpNot, Kids: []*Expr{q.Expr(SomeWords), q.Expr(AllWords)}}
}

// Optional returns the number of words that may be missing with SomeWords. It is 0 for a
// query with alternatives, because each of them has words of its own.
func (q *Query) Optional() int {
	n := 0
	for _, p := range q.parts {
		switch {
		case p.term == nil:
			return 0
		case !p.term.Required && !p.term.Stop:
			n++
		}
	}
	return n
}

// Named returns the expression of documents that have all the terms in their titles and anchors.
func (q *Query) Named() *Expr { return q.named((*Term).Expr) }

// named is like all, with the terms, as leaf gives them, in titles and anchors.
func (q *Query) named(leaf func(*Term) *Expr) *Expr {
	return q.all(func(t *Term) *Expr {
		if t.Column == "" {
			named := *t
			named.Address = nil
			return leaf(&named).limit("title", "anchors", "outside")
		}
		return leaf(t)
	})
}

// Without returns the query without the documents of these hosts and of their subdomains.
func (q *Query) Without(hosts []string) *Query {
	other := *q
	excluded := []*Expr{q.excluded}
	for _, host := range hosts {
		excluded = append(excluded, tag(analysis.TagSite, host))
	}
	other.excluded = join(OpOr, excluded...)
	return &other
}

// columnOf has the column that a clause searches.
var columnOf = map[clauseKind]string{clauseTitle: "title", clauseURL: "url"}

// Expr returns the expression of documents that have the term.
func (t *Term) Expr() *Expr {
	alternatives := make([]*Expr, len(t.Sequences))
	for i, s := range t.Sequences {
		alternatives[i] = phrase(strings.Join(s, " "))
		alternatives[i].Phrase.Prefix = t.Prefix
	}
	for _, s := range t.Full {
		alternatives = append(alternatives, phrase(strings.Join(s, " ")))
	}
	for _, a := range t.Address {
		alternatives = append(alternatives, phrase(a).limit("url"))
	}
	e := join(OpOr, alternatives...)
	if t.Column != "" {
		e.limit(t.Column)
	}
	return e
}

// Relaxed returns the expression of documents that have a part of the term: any token of
// a compound or of a CJK run. A document that has the term has a part of it.
//
// A stop word is not such a part. If a compound has only stop words, as to-be does, only
// the whole compound counts.
func (t *Term) Relaxed() *Expr {
	if t.Prefix {
		return t.Expr()
	}
	var parts []*Expr
	add := func(tokens string) {
		if !slices.ContainsFunc(parts, func(e *Expr) bool { return e.Phrase.Tokens == tokens }) {
			parts = append(parts, phrase(tokens))
		}
	}
	for _, s := range t.Sequences {
		if len(s) != len(t.Sequences[0]) {
			add(strings.Join(s, " ")) // one word as two, or without its hyphens
			continue
		}
		onlyStops := true
		for _, w := range s {
			if !analysis.IsStopWord(w, "") {
				onlyStops = false
				add(w)
			}
		}
		if onlyStops {
			add(strings.Join(s, " "))
		}
	}
	for _, s := range t.Full {
		add(strings.Join(s, " "))
	}
	for _, a := range t.Address {
		parts = append(parts, phrase(a).limit("url"))
	}
	return join(OpOr, parts...)
}

// all returns the expression of documents with all the terms, each as leaf gives it. Stop
// words are left out, unless there is nothing else: nearly every document of the language
// has them hundreds of times, so they were most of the cost of a query and said nothing.
// In quotes they count.
func (c *conj) all(leaf func(*Term) *Expr) *Expr {
	var groups []*Expr
	for _, p := range c.withoutStops() {
		groups = append(groups, p.all(leaf))
	}
	return c.restrict(groups)
}

func (p part) all(leaf func(*Term) *Expr) *Expr {
	if p.term != nil {
		return leaf(p.term)
	}
	return p.anyOf(func(c *conj) *Expr { return c.all(leaf) })
}

// anyOf joins the alternatives.
func (p part) anyOf(expr func(*conj) *Expr) *Expr {
	sides := make([]*Expr, len(p.either))
	for i := range p.either {
		sides[i] = expr(&p.either[i])
	}
	return join(OpOr, sides...)
}

// withoutStops returns the parts that are not stop words, or all parts if all are stop words.
func (c *conj) withoutStops() []part {
	list := slices.DeleteFunc(slices.Clone(c.parts), func(p part) bool { return p.term != nil && p.term.Stop })
	if len(list) == 0 {
		return c.parts
	}
	return list
}

// some leaves out stop words and common words, unless there is nothing else or the
// breadth is greater. For AnyWord, phrases and operators suffice where there are any.
func (c *conj) some(b Breadth) *Expr {
	var words, stops, required []*Expr
	for _, p := range c.parts {
		switch {
		case p.term == nil && p.required():
			required = append(required, p.all((*Term).Expr))
		case p.term == nil:
			words = append(words, p.anyOf(func(c *conj) *Expr { return c.some(b) }))
		case p.term.Required:
			required = append(required, p.term.Expr())
		case p.term.Stop, p.term.Common:
			stops = append(stops, p.term.Expr())
		default:
			words = append(words, p.term.Relaxed())
		}
	}
	switch {
	case b == PlainWord:
		words, required = append(words, stops...), nil
		if join(OpOr, words...) == nil {
			return nil
		}
	case b == AnyWord && len(required) > 0:
		words = nil
	case b == AnyWord:
		words = append(words, stops...)
	case len(words) == 0 && len(required) == 0:
		words = stops
	}
	return c.restrict(append(required, join(OpOr, words...)))
}

// required reports whether no alternative has a word that may be missing.
func (p part) required() bool {
	return !slices.ContainsFunc(p.either, func(c conj) bool {
		return slices.ContainsFunc(c.parts, func(p part) bool {
			if p.term != nil {
				return !p.term.Required
			}
			return !p.required()
		})
	})
}

// restrict joins groups with the filter and takes away what is excluded.
//
// NOT is inside the first group, never around all of them: under a NOT, an AND over
// column filters loses occurrences in FTS5 (SQLite 3.54), and with them scores. When a
// word is only in another column, fts5ExprNodeTest_AND clears the positions of everything
// below it, unless it is the root. These include positions of the other word of an OR,
// which FTS5 may have read for a later document.
func (c *conj) restrict(groups []*Expr) *Expr {
	groups = slices.DeleteFunc(append(groups, c.filter), func(e *Expr) bool { return e == nil })
	if c.excluded != nil && len(groups) > 0 {
		groups[0] = &Expr{Op: OpNot, Kids: []*Expr{groups[0], c.excluded}}
	}
	return join(OpAnd, groups...)
}
