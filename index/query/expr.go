package query

import (
	"indexer/index/analysis"
	"slices"
	"strings"
)

// A query as expressions of FTS5: documents with all that it asks for, and with some of it.

// columnOf are the columns of the full-text table that a clause looks into.
var columnOf = map[clauseKind]string{clauseTitle: "title", clauseURL: "url"}

// phrases are what any of makes the term, as FTS5 phrases.
func (t *Term) phrases() []string {
	alternatives := make([]string, len(t.Sequences))
	for i, s := range t.Sequences {
		alternatives[i] = quote(strings.Join(s, " "))
		if t.Prefix {
			alternatives[i] += " *"
		}
	}
	return alternatives
}

// expr is the FTS5 expression of documents that have the term.
func (t *Term) Expr() string {
	e := join(" OR ", t.phrases()...)
	if t.Column != "" {
		e = t.Column + " : " + e
	}
	return e
}

// relaxed is the FTS5 expression of documents that have some of the term: any
// token of a compound or of a CJK run. What has the term has some of it.
func (t *Term) Relaxed() string {
	if t.Prefix {
		return t.Expr()
	}
	return join(" OR ", t.some()...)
}

// some are what tells something by itself, as FTS5 phrases: tokens that are not stop words, and of
// stop words alone, as in to-be, all together.
func (t *Term) some() (list []string) {
	add := func(tokens ...string) {
		if e := quote(strings.Join(tokens, " ")); !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	for _, s := range t.Sequences {
		tells := false
		for _, w := range s {
			if !analysis.IsStopWord(w, "") {
				tells = true
				add(w)
			}
		}
		if !tells {
			add(s...)
		}
	}
	return list
}

// all is the FTS5 expression of documents with all the terms, each as leaf writes it. Stop
// words are left out, unless there is nothing else: nearly every document of the language
// has them, hundreds of times, which made them the greater part of the cost of a query and
// told nothing. In quotes they count.
func (c *conj) all(leaf func(*Term) string) string {
	var groups []string
	for _, p := range c.telling() {
		groups = append(groups, p.all(leaf))
	}
	return c.restrict(groups)
}

func (p part) all(leaf func(*Term) string) string {
	if p.term != nil {
		return leaf(p.term)
	}
	return p.of(func(c *conj) string { return c.all(leaf) })
}

// of joins the alternatives.
func (p part) of(side func(*conj) string) string {
	sides := make([]string, len(p.either))
	for i := range p.either {
		sides[i] = side(&p.either[i])
	}
	return join(" OR ", sides...)
}

// telling are the parts that are not stop words, or all if there are no others.
func (c *conj) telling() []part {
	list := slices.DeleteFunc(slices.Clone(c.parts), func(p part) bool { return p.term != nil && p.term.Stop })
	if len(list) == 0 {
		return c.parts
	}
	return list
}

// breadth is which documents a query finds.
type Breadth int

const (
	AllWords  Breadth = iota // those with all the words
	SomeWords                // those with any of them, but for stop words and common ones
	AnyWord                  // those with any at all
	PlainWord                // those with any that is not in quotes nor behind intitle: or inurl:
)

// expr is the FTS5 expression of what a query finds, "" for nothing. Filters and what is
// excluded hold in each, phrases and operators in all but plainWord. Each but that finds
// whatever the one before does.
func (c *Query) Expr(b Breadth) string {
	if b == AllWords {
		return c.all((*Term).Expr)
	}
	return c.some(b)
}

// some leaves out stop words and common ones, unless there is nothing else, or the breadth
// is greater. With anyWord phrases and operators alone suffice where there are any.
func (c *conj) some(b Breadth) string {
	var words, stops, required []string
	for _, p := range c.parts {
		switch {
		case p.term == nil && p.required():
			required = append(required, p.all((*Term).Expr))
		case p.term == nil:
			words = append(words, p.of(func(c *conj) string { return c.some(b) }))
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
		if words, required = append(words, stops...), nil; join(" OR ", words...) == "" {
			return ""
		}
	case b == AnyWord && len(required) > 0:
		words = nil
	case b == AnyWord:
		words = append(words, stops...)
	case len(words) == 0 && len(required) == 0:
		words = stops
	}
	return c.restrict(append(required, join(" OR ", words...)))
}

// required reports that no side of the alternatives has a word that may be missing.
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

// named is the FTS5 expression of documents that have all the terms in what they are
// called: their titles and anchors.
func (c *Query) Named() string {
	return c.all(func(t *Term) string {
		if t.Column == "" {
			return namedColumns + " : " + t.Expr()
		}
		return t.Expr()
	})
}

// namedColumns are those of what a document is called.
const namedColumns = "{title anchors outside}"

// restrict joins groups with the filter and takes away what is excluded.
//
// NOT stands inside the first group, never around all: under a NOT, an AND over column filters
// loses occurrences in FTS5 (SQLite 3.54), and with them scores. When a word is in another column
// only, fts5ExprNodeTest_AND clears the positions of all that is below it, unless it is the
// root, those of an OR's other word included, which may have been read for a later document.
func (c *conj) restrict(groups []string) string {
	groups = slices.DeleteFunc(append(groups, c.filter), func(e string) bool { return e == "" })
	if c.excluded != "" && len(groups) > 0 {
		groups[0] = "(" + groups[0] + " NOT " + c.excluded + ")"
	}
	return join(" AND ", groups...)
}

// join puts an operator between the expressions that are not empty, in
// parentheses where there are several.
func join(op string, exprs ...string) string {
	exprs = slices.DeleteFunc(slices.Clone(exprs), func(e string) bool { return e == "" })
	if len(exprs) < 2 {
		return strings.Join(exprs, "")
	}
	return "(" + strings.Join(exprs, op) + ")"
}

// quote makes an FTS5 string. Tokens never hold quotes.
func quote(tokens string) string { return `"` + tokens + `"` }
