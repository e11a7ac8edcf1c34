package query

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/webindexer/indexer/index/analysis"
)

// The language of a query is unknown, so a word stands for several token sequences: as
// typed, for documents of languages without a stemmer, and as each stemmer in use reduces
// it. Most words have one to three different sequences.

// Term is a word or phrase that documents may have.
type Term struct {
	Sequences [][]string // alternatives; the tokens of each follow each other
	Full      [][]string // alternatives for what it is short for
	Otherwise [][]string // alternatives for other words that titles may have for it
	Address   []string   // tokens that stand for it in addresses only: 36 for 3.6
	Prefix    bool       // the last token is the beginning of one (a single CJK character)
	Stop      bool       // a stop word
	Common    bool       // a word in so many documents that rarer words of the query decide; set by the search
	Required  bool       // a phrase: stays required when words become optional
	Column    string     // the column of intitle: and inurl:; "" for any
	Typed     []string   // the words as typed; documents have only their stems
	Text      string     // as typed
	At        int        // where it was typed in the normalised query
}

// conj is a conjunction: a whole query, or one side of an OR.
type conj struct {
	parts    []part
	filter   *Expr // site:, lang: and filetype:, and groups of them
	excluded *Expr // what must not match
}

// part is a term, or alternatives one of which must match.
type part struct {
	term   *Term
	either []conj // if term is nil
}

// Query is a query that is ready to run.
type Query struct {
	conj
	Text    string  // the query, normalised
	Terms   []*Term // those that are not excluded, in the order in which they were typed
	Words   []Word  // of the terms
	Fetched Period
	OneSite bool // a site: holds for the whole query
	Ignored int
	// Verbatim says that the search looks for neither long forms of abbreviations nor other words.
	Verbatim bool
	Notes    []string
	// IfNothing are notes for a search that finds nothing.
	IfNothing []string
}

// maxPhrase bounds the tokens of a word or phrase; the rest is ignored.
const maxPhrase = 64

// Compile parses and analyses a query. It stems words with the stemmers inUse, or with that
// of lang:. A verbatim query looks only for its own words, not for long forms of
// abbreviations or other words. An error is a [UsageError].
func Compile(q string, inUse []*analysis.Stemmer, verbatim bool) (*Query, error) {
	s, err := parseQuery(q)
	if err != nil {
		return nil, err
	}
	if s.lang != "" {
		inUse = []*analysis.Stemmer{analysis.StemmerFor(s.lang)}
	}
	c := &compiler{lang: s.lang, inUse: inUse}
	c.Ignored, c.Notes, c.IfNothing, c.Text = s.ignored, s.notes, s.ifNothing, s.text
	clauses := slices.DeleteFunc(s.clauses, func(cl clause) bool {
		c.OneSite = c.OneSite || cl.kind == clauseSite && !cl.exclude
		dated := cl.kind == clauseAfter || cl.kind == clauseBefore
		if dated {
			c.Fetched.narrow(cl.kind, cl.text)
		}
		return dated
	})
	if c.conj, err = c.compile(clauses, true); err != nil {
		return nil, err
	}
	if c.Verbatim = verbatim; verbatim {
		for _, t := range c.Terms {
			t.Full, t.Otherwise = nil, nil
		}
	}
	c.dropSaidInFull()
	c.Words = queryWords(c.Terms)
	switch {
	case c.empty() && c.excluded != nil:
		return nil, &UsageError{"the query only excludes; add a word, \"phrase\", site: or lang: to look for"}
	case c.empty() && !c.Fetched.Bounded():
		return nil, &UsageError{"the query has no words to look for"}
	}
	return &c.Query, nil
}

// compiler makes a Query.
type compiler struct {
	Query
	lang  string
	inUse []*analysis.Stemmer
}

// tagOf has the kind of tag that a clause looks for.
var tagOf = map[clauseKind]rune{clauseSite: analysis.TagSite, clauseLang: analysis.TagLang, clauseFileType: analysis.TagFileType}

// compile makes terms and filters of clauses that all hold. If asked is false, the
// clauses are excluded. Several filters of one kind are alternatives, since a page has
// only one site.
func (c *compiler) compile(list []clause, asked bool) (out conj, err error) {
	filters := make(map[clauseKind][]*Expr)
	var excluded, groups []*Expr
	for _, cl := range list {
		kind, isTag := tagOf[cl.kind]
		switch {
		case cl.kind == clauseAfter || cl.kind == clauseBefore:
			return out, errWholeQuery
		case cl.kind == clauseGroup:
			p, err := c.group(cl, asked && !cl.exclude)
			if err != nil {
				return out, err
			}
			switch {
			case cl.exclude:
				excluded = append(excluded, p.all((*Term).Expr))
			case slices.ContainsFunc(p.either, func(c conj) bool { return len(c.parts) > 0 }):
				out.parts = append(out.parts, p)
			default: // without words, as (site:a.example OR site:b.example)
				groups = append(groups, p.all((*Term).Expr))
			}
		case isTag && cl.exclude:
			excluded = append(excluded, tag(kind, cl.text))
		case isTag:
			filters[cl.kind] = append(filters[cl.kind], tag(kind, cl.text))
		case cl.exclude:
			if t, ok := newTerm(cl, c.lang, c.inUse); ok {
				t.Full, t.Otherwise = nil, nil // only what was typed
				excluded = append(excluded, t.Expr())
			}
		default:
			out.parts = append(out.parts, c.term(cl, asked)...)
		}
	}
	for _, kind := range []clauseKind{clauseSite, clauseLang, clauseFileType} {
		groups = append(groups, join(OpOr, filters[kind]...))
	}
	out.filter = join(OpAnd, groups...)
	out.excluded = join(OpOr, excluded...)
	return out, nil
}

// group compiles alternatives, and leaves out those that become empty.
func (c *compiler) group(cl clause, asked bool) (p part, err error) {
	for _, list := range cl.either {
		side, err := c.compile(list, asked)
		switch {
		case err != nil:
			return part{}, err
		case !side.empty():
			p.either = append(p.either, side)
		case side.excluded != nil:
			return part{}, &UsageError{"one side of OR, or a group, only excludes; add a word to look for"}
		}
	}
	return p, nil
}

func (c *compiler) term(cl clause, asked bool) (parts []part) {
	for _, piece := range scriptParts(cl) {
		if t, ok := newTerm(piece, c.lang, c.inUse); ok {
			parts = append(parts, part{term: &t})
			if asked {
				c.Terms = append(c.Terms, &t)
			} else {
				t.Full, t.Otherwise = nil, nil
			}
		}
	}
	return parts
}

// empty reports whether there is nothing to look for.
func (c *conj) empty() bool { return len(c.parts) == 0 && c.filter == nil }

// scriptParts splits a word where it changes between a script without spaces and another
// script, as in apache模块: in such a script, a missing space does not mean that the two are
// adjacent. If a part is a single character, as in 2.4版 or C言語, or the word is in quotes,
// it is not split.
func scriptParts(c clause) (parts []clause) {
	if c.kind != clauseWord {
		return []clause{c}
	}
	tok := new(analysis.Tokenizer)
	tok.Reset(c.text)
	begin, end, bigrams := 0, 0, false
	add := func() {
		parts = append(parts, clause{text: c.text[begin:end], at: c.at + begin})
	}
	for n := 0; tok.Next(); n++ {
		if n > 0 && tok.Token.Bigram != bigrams {
			add()
			begin = tok.Token.Start
		}
		bigrams, end = tok.Token.Bigram, tok.Token.End
	}
	if add(); len(parts) < 2 || slices.ContainsFunc(parts, func(p clause) bool { return utf8.RuneCountInString(p.text) < 2 }) {
		return []clause{c}
	}
	return parts
}

// newTerm analyses a word or phrase. It reports false if the word has no tokens.
func newTerm(c clause, lang string, inUse []*analysis.Stemmer) (Term, bool) {
	t := Term{Required: c.kind != clauseWord, Column: columnOf[c.kind], Text: c.text, At: c.at}
	var words []string
	var stemmable []bool
	tok := new(analysis.Tokenizer)
	tok.Reset(c.text)
	for len(words) < maxPhrase && tok.Next() {
		if tok.Token.Tail && strings.TrimSpace(c.text[tok.Token.End:]) == "" {
			break // the bigrams suffice; the tail would require that the run also ends here in documents
		}
		words = append(words, string(tok.Token.Text))
		stemmable = append(stemmable, tok.Token.Letters)
		if tok.Token.Letters {
			t.Typed = append(t.Typed, string(tok.Token.Text))
		}
		t.Prefix = tok.Token.Bigram && !tok.Token.Tail && tok.Token.First == tok.Token.End
	}
	if len(words) == 0 {
		return t, false
	}
	t.Stop = len(words) == 1 && !t.Required && analysis.IsStopWord(words[0], lang)
	t.addSequences(words, stemmable, inUse)
	if c.kind != clauseWord {
		return t, true
	}
	if w := unhyphened(c.text); w != "" {
		t.addSequences([]string{w}, []bool{true}, inUse)
	}
	if letters, digits := numbered(words); digits != "" {
		t.addSequences([]string{letters, digits}, []bool{false, false}, nil)
	}
	t.Address = versionInAddress(words)
	t.Full = inFull(words, inUse)
	if !t.Stop {
		t.Otherwise = inOtherWords(words, inUse)
	}
	return t, true
}

// numbered divides a word of letters followed by digits, which texts also write as two words:
// RFC9113 is "RFC 9113", and utf8 is "UTF-8". The digits are "" for other words.
func numbered(words []string) (letters, digits string) {
	if len(words) != 1 {
		return "", ""
	}
	i := strings.IndexAny(words[0], "0123456789")
	if i < 1 || strings.Trim(words[0][i:], "0123456789") != "" {
		return "", ""
	}
	return words[0][:i], words[0][i:]
}

// versionInAddress returns a version of two or three numbers as addresses write it without
// dots: 36 for 3.6, and 090 for 0.9.0 or 0.9.
func versionInAddress(words []string) []string {
	if len(words) < 2 || len(words) > 3 {
		return nil
	}
	for _, w := range words {
		if len(w) > 3 || strings.Trim(w, "0123456789") != "" {
			return nil
		}
	}
	joined := strings.Join(words, "")
	if len(words) == 2 {
		return []string{joined, joined + "0"}
	}
	return []string{joined}
}

// addSequences adds words as typed, and as each stemmer reduces them.
func (t *Term) addSequences(words []string, stemmable []bool, inUse []*analysis.Stemmer) {
	t.Sequences = withForms(t.Sequences, words, stemmable, inUse)
}

// withForms returns a list of sequences with words as typed, and as each stemmer reduces them.
func withForms(list [][]string, words []string, stemmable []bool, inUse []*analysis.Stemmer) [][]string {
	add := func(tokens []string) {
		if !slices.ContainsFunc(list, func(s []string) bool { return slices.Equal(s, tokens) }) {
			list = append(list, tokens)
		}
	}
	add(words)
	for _, st := range inUse {
		if st == nil {
			continue
		}
		stems := make([]string, len(words))
		for i, w := range words {
			stems[i] = w
			if stemmable[i] {
				stems[i] = st.Stem(w)
			}
		}
		add(stems)
	}
	return list
}

// unhyphened returns a hyphenated word as it is written without hyphens: email for e-mail.
// It returns "" for anything else, such as a date.
func unhyphened(text string) string {
	joined := hyphens.Replace(text)
	if joined == text {
		return ""
	}
	tok := new(analysis.Tokenizer)
	tok.Reset(joined)
	if !tok.Next() || !tok.Token.Letters || tok.Token.Bigram || tok.Token.End-tok.Token.Start != len(joined) {
		return ""
	}
	return string(tok.Token.Text)
}

var hyphens = strings.NewReplacer("-", "", "\u2010", "", "\u2011", "")

// Word is a word of a query, for comparison with titles and anchors.
type Word struct {
	Typed  string
	Stems  []string
	Prefix bool       // a single CJK character
	Stop   bool       // a stop word
	Full   [][]string // what it is short for, if that is several words
	Same   []string   // those of Stems that belong to other words: what it is short for, or its other spelling
	// Otherwise has other words for it, and OtherPhrases other phrases.
	Otherwise    []string
	OtherPhrases [][]string
}

// maxWords bounds the words that are compared with each title, heading and anchor. A term may have
// maxPhrase of them.
const maxWords = 64

// queryWords returns the first distinct words of terms, except those of inurl:.
func queryWords(terms []*Term) (list []Word) {
	seen := make(map[string]bool)
	for _, t := range terms {
		if t.Column == columnOf[clauseURL] {
			continue
		}
		for j, typed := range t.Sequences[0] {
			if seen[typed] || len(list) == maxWords {
				continue
			}
			seen[typed] = true
			w := Word{Typed: typed, Stop: t.Stop, Prefix: t.Prefix && j == len(t.Sequences[0])-1}
			for _, s := range t.Sequences {
				if len(s) == len(t.Sequences[0]) { // not the form without hyphens
					w.Stems = append(w.Stems, s[j])
				}
			}
			for _, f := range t.Full {
				if len(f) == 1 {
					w.Stems, w.Same = append(w.Stems, f[0]), append(w.Same, f[0])
				} else {
					w.Full = append(w.Full, f)
				}
			}
			for _, o := range t.Otherwise {
				if len(o) == 1 {
					w.Otherwise = append(w.Otherwise, o[0])
				} else {
					w.OtherPhrases = append(w.OtherPhrases, o)
				}
			}
			list = append(list, w)
		}
	}
	return list
}

// TypedWords returns the distinct words, as typed, that documents may have in another form
// instead, without stop words. It returns none for a query with alternatives, because no
// document needs the words of all alternatives.
func (q *Query) TypedWords() (list []string) {
	for _, p := range q.parts {
		switch {
		case p.term == nil:
			return nil
		case p.term.Stop:
			continue
		}
		for _, w := range p.term.Typed {
			if !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
	}
	return list
}

// NewWord returns the term for a word in a column; "" means any column.
func NewWord(word, column string, inUse []*analysis.Stemmer) (Term, bool) {
	t, ok := newTerm(clause{text: word}, "", inUse)
	t.Column = column
	return t, ok
}
