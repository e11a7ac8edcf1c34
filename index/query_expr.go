package index

import (
	"slices"
	"strings"
)

// A query as expressions of FTS5: documents with all that it asks for, and with some of it.

// columnOf are the columns of the full-text table that a clause looks into.
var columnOf = map[clauseKind]string{clauseTitle: "title", clauseURL: "url"}

// phrases are what any of makes the term, as FTS5 phrases.
func (t *term) phrases() []string {
	alternatives := make([]string, len(t.sequences))
	for i, s := range t.sequences {
		alternatives[i] = quote(strings.Join(s, " "))
		if t.prefix {
			alternatives[i] += " *"
		}
	}
	return alternatives
}

// expr is the FTS5 expression of documents that have the term.
func (t *term) expr() string {
	e := join(" OR ", t.phrases()...)
	if t.column != "" {
		e = t.column + " : " + e
	}
	return e
}

// relaxed is the FTS5 expression of documents that have some of the term: any
// token of a compound or of a CJK run. What has the term has some of it.
func (t *term) relaxed() string {
	if t.prefix {
		return t.expr()
	}
	return join(" OR ", t.some()...)
}

// some are what tells something by itself, as FTS5 phrases: tokens that are not stop words, and of
// stop words alone, as in to-be, all together.
func (t *term) some() (list []string) {
	add := func(tokens ...string) {
		if e := quote(strings.Join(tokens, " ")); !slices.Contains(list, e) {
			list = append(list, e)
		}
	}
	for _, s := range t.sequences {
		tells := false
		for _, w := range s {
			if !isStopWord(w, "") {
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
func (c *conj) all(leaf func(*term) string) string {
	var groups []string
	for _, p := range c.telling() {
		groups = append(groups, p.all(leaf))
	}
	return c.restrict(groups)
}

func (p part) all(leaf func(*term) string) string {
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
	list := slices.DeleteFunc(slices.Clone(c.parts), func(p part) bool { return p.term != nil && p.term.stop })
	if len(list) == 0 {
		return c.parts
	}
	return list
}

// breadth is which documents a query finds.
type breadth int

const (
	allWords  breadth = iota // those with all the words
	someWords                // those with any of them, but for stop words and common ones
	anyWord                  // those with any at all
	plainWord                // those with any that is not in quotes nor behind intitle: or inurl:
)

// expr is the FTS5 expression of what a query finds, "" for nothing. Filters and what is
// excluded hold in each, phrases and operators in all but plainWord. Each but that finds
// whatever the one before does.
func (c *compiled) expr(b breadth) string {
	if b == allWords {
		return c.all((*term).expr)
	}
	return c.some(b)
}

// some leaves out stop words and common ones, unless there is nothing else, or the breadth
// is greater. With anyWord phrases and operators alone suffice where there are any.
func (c *conj) some(b breadth) string {
	var words, stops, required []string
	for _, p := range c.parts {
		switch {
		case p.term == nil && p.required():
			required = append(required, p.all((*term).expr))
		case p.term == nil:
			words = append(words, p.of(func(c *conj) string { return c.some(b) }))
		case p.term.required:
			required = append(required, p.term.expr())
		case p.term.stop, p.term.common:
			stops = append(stops, p.term.expr())
		default:
			words = append(words, p.term.relaxed())
		}
	}
	switch {
	case b == plainWord:
		if words, required = append(words, stops...), nil; join(" OR ", words...) == "" {
			return ""
		}
	case b == anyWord && len(required) > 0:
		words = nil
	case b == anyWord:
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
				return !p.term.required
			}
			return !p.required()
		})
	})
}

// named is the FTS5 expression of documents that have all the terms in what they are
// called: their titles and anchors.
func (c *compiled) named() string {
	return c.all(func(t *term) string {
		if t.column == "" {
			return namedColumns + " : " + t.expr()
		}
		return t.expr()
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
