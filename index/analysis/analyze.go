// Package analysis turns texts into the tokens that the index files store and queries look for.
//
// Documents, queries and snippets are analysed by the same code: [Tokenizer] splits a
// text into folded words and bigrams, a [Stemmer] reduces words to their stems, and
// [Document.Analyze] makes what the full-text table gets of a document.
//
// Tokens are stored. A change of the tokens of any text must raise [Version].
package analysis

import (
	"net/url"
	"strings"
	"sync"

	"golang.org/x/net/idna"

	"github.com/webindexer/indexer/page"
)

// Version names what the analysis produces. An index made by another version still opens,
// but has to be rebuilt; the writer of package index says so (NeedsRebuild).
const Version = 7

// MaxIndexedText is how much of a text, and of a title, is searchable, in bytes. All of it is
// stored.
const MaxIndexedText = 2 << 20

// Columns is what the full-text table gets of a document: for each column, tokens that are
// each followed by a space.
type Columns struct {
	Title, Body, Anchors, Outside, URL, Rest, Tags string
}

type analyzer struct {
	tokens Tokenizer
	out    []byte
}

var analyzers = sync.Pool{New: func() any { return new(analyzer) }}

// Source says where a word of a document comes from.
type Source int

// The sources.
const (
	FromTitle Source = iota
	FromMain         // the main content of the text
	FromRest         // the rest of the text
	FromAnchor
)

// Analyze makes the columns of a document. It is safe for concurrent use.
func (d *Document) Analyze() Columns { return d.AnalyzeWords(nil) }

// AnalyzeWords does what Analyze does, and calls visit with each token of the title, the text
// and the anchors. The text that visit gets is normalised; the token has its place in it.
func (d *Document) AnalyzeWords(visit func(t *Token, text string, from Source)) Columns {
	a := analyzers.Get().(*analyzer)
	defer analyzers.Put(a)
	st := StemmerFor(d.Language)
	in := func(from Source) func(*Token, string) {
		if visit == nil {
			return nil
		}
		return func(t *Token, text string) { visit(t, text, from) }
	}
	text, main := NormalizeRanges(Truncate(d.Text, MaxIndexedText), d.Main)
	return Columns{
		Title:   a.column(Truncate(d.Title, MaxIndexedText), st, in(FromTitle)),
		Body:    a.ranges(text, main, st, in(FromMain)),
		Rest:    a.ranges(text, others(main, len(text)), st, in(FromRest)),
		Anchors: a.texts(d.Anchors, st, in(FromAnchor)),
		Outside: a.texts(d.Outside, st, in(FromAnchor)),
		URL:     a.column(readableURL(d.URL), st, nil),
		Tags:    tags(d.URL, d.Language),
	}
}

// MainWords calls visit with each word of the main content of a text, or of all of it if main
// is nil, as AnalyzeWords does.
func MainWords(text string, main []page.Range, visit func(word []byte)) {
	a := analyzers.Get().(*analyzer)
	defer analyzers.Put(a)
	text, main = NormalizeRanges(Truncate(text, MaxIndexedText), main)
	a.ranges(text, main, nil, func(t *Token, _ string) { visit(t.Text) })
}

// Document has the parts of a document that are analysed.
type Document struct {
	URL                   page.URL
	Language, Title, Text string
	Main                  []page.Range // main content of Text, nil for all of it
	Anchors, Outside      []string
}

func (a *analyzer) texts(list []string, st *Stemmer, visit func(*Token, string)) string {
	a.out = a.out[:0]
	for i, text := range list {
		if i > 0 {
			a.out = append(a.out, partBreak...)
		}
		a.add(text, st, visit)
	}
	return string(a.out)
}

// partBreak is a token that occurs in no text. It separates anchors, and parts of a text, so
// that no phrase matches across two of them.
const partBreak = "\uE000 "

func (a *analyzer) column(text string, st *Stemmer, visit func(*Token, string)) string {
	a.out = a.out[:0]
	a.add(text, st, visit)
	return string(a.out)
}

// add appends the stemmed tokens of text, each followed by a space. It calls visit, unless
// it is nil, with the token before it is stemmed.
func (a *analyzer) add(text string, st *Stemmer, visit func(*Token, string)) {
	text = Normalize(text)
	a.addRange(text, page.Range{End: len(text)}, st, visit)
}

// ranges makes a column of parts of a normalised text.
func (a *analyzer) ranges(text string, parts []page.Range, st *Stemmer, visit func(*Token, string)) string {
	a.out = a.out[:0]
	for i, r := range parts {
		if i > 0 {
			a.out = append(a.out, partBreak...)
		}
		a.addRange(text, r, st, visit)
	}
	return string(a.out)
}

// addRange does what add does for a part of a normalised text.
func (a *analyzer) addRange(text string, r page.Range, st *Stemmer, visit func(*Token, string)) {
	a.tokens.Reset(text[:r.End])
	a.tokens.pos = r.Start
	var stems *StemCache
	if st != nil {
		stems = NewStemCache(st)
		defer stems.Release()
	}
	for a.tokens.Next() {
		tok := &a.tokens.Token
		if visit != nil {
			visit(tok, text)
		}
		if stems != nil && tok.Letters {
			a.out = stems.Append(a.out, tok.Text)
		} else {
			a.out = append(a.out, tok.Text...)
		}
		a.out = append(a.out, ' ')
	}
	a.tokens.Reset("") // the pool must not keep the text alive
}

// readableURL returns a URL as people read and type it: without its scheme, and with
// escapes and punycode decoded where possible.
func readableURL(u page.URL) string {
	parsed, err := parseURL(u)
	if err != nil || parsed.Host == "" {
		return string(u)
	}
	host := parsed.Hostname()
	if strings.Contains(host, "xn--") {
		if h, err := idna.ToUnicode(host); err == nil {
			host = h
		}
	}
	text := host + " " + parsed.Path
	if parsed.RawQuery != "" {
		q, err := url.QueryUnescape(parsed.RawQuery)
		if err != nil {
			q = parsed.RawQuery
		}
		text += " " + q
	}
	return text
}

// parseURL reads a URL. For browsers, a percent sign in a URL need not begin an escape; package url
// refuses such URLs.
func parseURL(u page.URL) (*url.URL, error) {
	var b strings.Builder
	for i := range len(u) {
		b.WriteByte(u[i])
		if _, escaped := page.EscapedByte(string(u[i:])); u[i] == '%' && !escaped {
			b.WriteString("25")
		}
	}
	return url.Parse(b.String())
}

// Tokens counts the tokens of all columns. Each token is followed by a space.
func (c *Columns) Tokens() (n uint32) {
	for _, text := range c.Texts() {
		n += uint32(strings.Count(text, " "))
	}
	return n
}

// ColumnNames has the names of the columns of the full-text table, in order.
var ColumnNames = [...]string{"title", "body", "anchors", "outside", "url", "rest", "tags"}

// Texts returns the columns in the order of [ColumnNames].
func (c *Columns) Texts() [len(ColumnNames)]string {
	return [...]string{c.Title, c.Body, c.Anchors, c.Outside, c.URL, c.Rest, c.Tags}
}

// Terms counts the terms of a title and a text as the index has them: folded, truncated,
// and stemmed by the rules of the language. Exports give them to other programs for ranking.
func Terms(title, text, language string) map[string]int {
	c := (&Document{Title: title, Text: text, Language: language}).Analyze()
	terms := make(map[string]int)
	for _, column := range []string{c.Title, c.Body} {
		for term := range strings.FieldsSeq(column) {
			terms[term]++
		}
	}
	return terms
}
