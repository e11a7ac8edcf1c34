// Package query parses a query as typed and turns it into an expression for the index.
// Package index and package opensearch evaluate it; package web reads it to fill its forms.
//
// [Compile] parses a query, analyses its words and returns a [Query]. Its Expr describes
// the documents that match. The package reads no index.
package query

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/webindexer/indexer/index/analysis"
)

// # The query language
//
//	word            documents with all the words; if they are few, then with any of them
//	"some words"    these words next to each other; always required
//	-word -"…"      not documents with it; --word is a word, since command lines have such options
//	a OR b c        either a or b, and c: OR binds more tightly than juxtaposition
//	(a b) OR (c d)  parentheses group
//	site:HOST       only this host and its subdomains; a leading www. is ignored, since
//	                which of www and bare is canonical is an accident of the site
//	lang:TAG        only this language; lang:pt includes pt-br
//	filetype:TYPE   only URLs that end in .TYPE (package analysis, tags.go)
//	intitle:WORD    this word, or "these words", or (a OR b), in the title
//	inurl:WORD      in the URL
//	after:DATE      fetched on that day or later; 2024 and 2024-05 mean their first day
//	before:DATE     fetched before that day (UTC)
//	-site: -lang: -filetype: -intitle: -inurl: -(…)   exclude
//
// Typographic quotes are quotes. A quote without a partner is ignored, a parenthesis that
// is not closed is closed at the end, and one that closes nothing is ignored. A parenthesis
// groups only where a word could begin, so main() and f(x) are words. An OR with nothing on
// one side is a word. All other characters separate words.

// Bounds of a query. MaxClauses bounds the words, and separately the operators that look for no
// word. Words and operators beyond it are ignored and counted in [Query].Ignored. A query
// longer than its bound is a usage error. Parentheses that are nested more deeply than their
// bound are ignored.
const (
	MaxBytes   = 4096
	MaxClauses = 32
	maxDepth   = 8
)

type clauseKind int

const (
	clauseWord clauseKind = iota
	clausePhrase
	clauseSite
	clauseLang
	clauseFileType
	clauseTitle
	clauseURL
	clauseAfter
	clauseBefore
	clauseGroup
)

// clause is one part of a query as typed.
type clause struct {
	kind    clauseKind
	exclude bool
	text    string     // for site, lang and filetype the tag's value, for after and before the day
	at      int        // where text begins in syntax.text; words and phrases only
	either  [][]clause // the alternatives of a group; all clauses of an alternative hold
}

type syntax struct {
	text    string // the query, normalised
	clauses []clause
	ignored int
	lang    string // the first lang: that is not excluded and holds for the whole query
	notes   []string
	// ifNothing are notes for a search that finds nothing.
	ifNothing []string
	unended   string // closes the groups and the OR that are open at the end of the text
}

// parseQuery splits a query into clauses. It knows nothing about analysis.
func parseQuery(q string) (syntax, error) {
	if len(q) > MaxBytes {
		return syntax{}, &UsageError{fmt.Sprintf("the query has %d bytes, at most %d are allowed", len(q), MaxBytes)}
	}
	p := parser{syntax: syntax{text: quotes.Replace(analysis.Normalize(strings.ToValidUTF8(q, " ")))}}
	list, _, err := p.list(clauseWord)
	if err != nil {
		return syntax{}, err
	}
	p.clauses, p.unended = flatten(list), strings.Repeat(")", p.skipped)+p.unended
	for _, c := range p.clauses {
		if c.kind == clauseLang && !c.exclude && p.lang == "" {
			p.lang = c.text
		}
	}
	return p.syntax, nil
}

// Narrow adds operators, such as "site:example.org", to a query so that they hold for all
// of it, even if a group or an OR is open at its end: it closes the group, and an open OR
// stays a word.
func Narrow(q string, operators ...string) string {
	if s, err := parseQuery(q); err == nil && s.unended != "" && len(operators) > 0 {
		q += " " + s.unended
	}
	return strings.TrimSpace(q + " " + strings.Join(operators, " "))
}

// Narrowed says which kinds of operators hold for all of a query and exclude nothing, like those
// that Narrow adds. Two operators of one kind find the documents of either, so another one does
// not narrow such a query further.
type Narrowed struct{ Site, Lang, FileType bool }

// NarrowedBy reads a query. An operator that excludes, is in quotes, or is one side of OR
// does not count.
func NarrowedBy(q string) (n Narrowed) {
	s, err := parseQuery(q)
	if err != nil {
		return n
	}
	for _, c := range s.clauses {
		if c.exclude {
			continue
		}
		switch c.kind {
		case clauseSite:
			n.Site = true
		case clauseLang:
			n.Lang = true
		case clauseFileType:
			n.FileType = true
		}
	}
	return n
}

var quotes = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, "＂", `"`)

// parser has a position in a query.
type parser struct {
	syntax
	at      int
	depth   int // of groups
	skipped int // open parentheses that are too deep to group
	words   int // clauses so far that look for words
	filters int // other clauses so far, without groups
}

func (p *parser) rest() string { return p.text[p.at:] }

// list reads clauses up to the end of the group or of the query, and reports whether the
// group was closed. Words in the list get this kind.
func (p *parser) list(kind clauseKind) (list []clause, closed bool, err error) {
	var or *clause    // an OR that waits for its right side
	adjacent := false // whether the last clause of list directly precedes
	for {
		p.at = len(p.text) - len(strings.TrimLeftFunc(p.rest(), unicode.IsSpace))
		if closed = p.ends(); closed || p.at == len(p.text) {
			if or != nil {
				list = p.add(list, *or)
				if !closed {
					p.unended = "-" // an empty clause
				}
			}
			return list, closed, nil
		}
		if isOr(p.rest()) {
			c := clause{kind: kind, text: "OR", at: p.at}
			p.at += len(c.text)
			if adjacent {
				or, adjacent = &c, false
			} else if or == nil {
				list = p.add(list, c)
			}
			continue
		}
		c, ok, err := p.next(kind)
		switch {
		case err != nil:
			return nil, false, err
		case !ok && or != nil:
			list, or = p.add(list, *or), nil
		case ok && or != nil:
			if list[len(list)-1], err = alternatives(list[len(list)-1], c); err != nil {
				return nil, false, err
			}
			or = nil
		case ok:
			list = append(list, c)
		}
		adjacent = ok
	}
}

// ends reads the parenthesis that closes the group. It skips one that closes nothing.
func (p *parser) ends() bool {
	for strings.HasPrefix(p.rest(), ")") {
		p.at++
		switch {
		case p.skipped > 0:
			p.skipped--
		case p.depth > 0:
			return true
		}
		p.at = len(p.text) - len(strings.TrimLeftFunc(p.rest(), unicode.IsSpace))
	}
	return false
}

// isOr reports whether a text begins with OR. A vertical bar is not an OR: titles have
// one before the name of the site.
func isOr(s string) bool {
	rest, ok := strings.CutPrefix(s, "OR")
	return ok && (rest == "" || strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, ")") || unicode.IsSpace(firstRune(rest)))
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// add adds an OR that is a word.
func (p *parser) add(list []clause, or clause) []clause {
	if p.words == MaxClauses {
		return list
	}
	p.words++
	return append(list, or)
}

// takes reports whether a clause is not empty and there is room for it. Words leave room for
// operators: what Narrow adds to a long query must hold.
func (p *parser) takes(c *clause) bool {
	if c.text == "" {
		return false
	}
	count := &p.words
	if c.isOperator() {
		count = &p.filters
	}
	if *count == MaxClauses {
		p.ignored++
		return false
	}
	*count++
	return true
}

// isOperator reports whether a clause looks for no word.
func (c *clause) isOperator() bool {
	switch c.kind {
	case clauseSite, clauseLang, clauseFileType, clauseAfter, clauseBefore:
		return true
	}
	return false
}

// alternatives makes one clause of two that OR joins.
func alternatives(a, b clause) (clause, error) {
	or := clause{kind: clauseGroup}
	for _, c := range []clause{a, b} {
		switch {
		case c.exclude:
			return or, &UsageError{"an exclusion cannot be one side of OR; write it next to the group: (a OR b) -c"}
		case c.kind == clauseAfter || c.kind == clauseBefore:
			return or, errWholeQuery
		case c.kind == clauseGroup:
			or.either = append(or.either, c.either...)
		default:
			or.either = append(or.either, []clause{c})
		}
	}
	return or, nil
}

var errWholeQuery = &UsageError{"after: and before: apply to the whole query; write them outside of parentheses and OR"}

// flatten removes parentheses that group nothing.
func flatten(list []clause) []clause {
	var flat []clause
	for _, c := range list {
		for i := range c.either {
			c.either[i] = flatten(c.either[i])
		}
		if len(c.either) == 1 && !c.exclude {
			flat = append(flat, c.either[0]...)
		} else {
			flat = append(flat, c)
		}
	}
	return flat
}

// next reads a clause, and reports whether the clause has any content.
func (p *parser) next(kind clauseKind) (c clause, ok bool, err error) {
	if strings.HasPrefix(p.rest(), "-") && !strings.HasPrefix(p.rest(), "--") {
		c.exclude = true
		p.at++
	}
	if strings.HasPrefix(p.rest(), "(") {
		return p.group(c, kind)
	}
	if strings.HasPrefix(p.rest(), `"`) {
		if p.quoted(&c) {
			if c.kind = kind; kind == clauseWord {
				c.kind = clausePhrase
			}
			return c, p.takes(&c), nil
		}
		p.at++
	}
	if k, value := columnOperator(p.rest()); value != "" {
		p.at += len(p.rest()) - len(value)
		if value[0] == '(' {
			return p.group(c, k)
		}
		c.kind = k
		if !p.quoted(&c) {
			p.word(&c)
		}
		return c, p.takes(&c), nil
	}
	c.kind = kind
	p.word(&c)
	if err := p.operator(&c); err != nil {
		return c, false, err
	}
	return c, p.takes(&c), nil
}

// group reads what is in parentheses.
func (p *parser) group(c clause, kind clauseKind) (clause, bool, error) {
	p.at++
	if p.depth == maxDepth {
		if p.skipped++; p.skipped == 1 {
			p.note("Parentheses that are nested more than %d deep are ignored.", maxDepth)
		}
		return c, false, nil
	}
	p.depth++
	list, closed, err := p.list(kind)
	p.depth--
	if err != nil {
		return c, false, err
	}
	if !closed {
		p.unended += ")"
	}
	c.kind, c.either = clauseGroup, [][]clause{list}
	return c, len(list) > 0, nil
}

// quoted reads what is in quotes. It reports false if the quote has no partner.
func (p *parser) quoted(c *clause) bool {
	quoted, ok := strings.CutPrefix(p.rest(), `"`)
	inside, _, closed := strings.Cut(quoted, `"`)
	if !ok || !closed {
		return false
	}
	c.text = strings.TrimSpace(inside)
	c.at = p.at + 1 + strings.Index(inside, c.text)
	p.at += len(inside) + 2
	return true
}

// word reads up to a space, a quote, or the parenthesis that closes the group.
func (p *parser) word(c *clause) {
	open := 0
	end := strings.IndexFunc(p.rest(), func(r rune) bool {
		switch r {
		case '(':
			open++
		case ')':
			open--
		}
		return unicode.IsSpace(r) || r == '"' || open < 0 && (p.depth > 0 || p.skipped > 0)
	})
	if end < 0 {
		end = len(p.rest())
	}
	word := p.rest()[:end]
	c.text = withoutScheme(word)
	c.at = p.at + len(word) - len(c.text)
	p.at += end
}

// withoutScheme returns a word without the scheme of an address, which the index does not have.
func withoutScheme(word string) string {
	scheme, rest, found := strings.Cut(word, "://")
	if found && rest != "" && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")) {
		return rest
	}
	return word
}

// UsageError says what is wrong with a query or with the options of a search, in words for
// the user who typed it.
type UsageError struct{ Reason string }

// Error returns the reason, without a prefix.
func (e *UsageError) Error() string { return e.Reason }
