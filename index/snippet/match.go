package snippet

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
)

// matcher finds the terms of a query among the tokens of a text. One goroutine uses it at a
// time.
type matcher struct {
	stemmer  *analysis.Stemmer
	tokens   map[string]int // token → number of its term
	prefixes []prefixTerm
	terms    int
	first    [256]bool // first bytes of tokens; stems begin as their words do
	sizes    [64]bool  // lengths of tokens, modulo 64

	stems *analysis.StemCache // from begin to end; nil without a stemmer
}

type prefixTerm struct {
	prefix string
	term   int
}

// NewMatcher looks for the terms that are worth marking: stop words only if there is
// nothing else.
func NewMatcher(terms []*query.Term, language string) *matcher {
	m := &matcher{stemmer: analysis.StemmerFor(language), tokens: make(map[string]int)}
	onlyStops := true
	for i := range terms {
		onlyStops = onlyStops && terms[i].Stop
	}
	for i := range terms {
		if terms[i].Stop && !onlyStops {
			continue
		}
		for _, s := range slices.Concat(terms[i].Sequences, terms[i].Full) {
			for _, w := range s {
				m.tokens[w] = m.terms
				m.first[w[0]] = true
				m.sizes[len(w)%len(m.sizes)] = true
			}
			if terms[i].Prefix {
				m.prefixes = append(m.prefixes, prefixTerm{s[len(s)-1], m.terms})
			}
		}
		m.terms++
	}
	return m
}

// begin prepares the matcher for a text, until end.
func (m *matcher) begin() {
	if m.stemmer != nil {
		m.stems = analysis.NewStemCache(m.stemmer)
	}
}

func (m *matcher) end() {
	if m.stems != nil {
		m.stems.Release()
		m.stems = nil
	}
}

// distinct is how many of the terms a text has.
func (m *matcher) distinct(text string) int {
	_, best := bestWindow(analysis.Normalize(text), m)
	return best.distinct
}

// match is the term that a token of text belongs to, and its place.
func (m *matcher) match(text string, t *analysis.Token) (match, bool) {
	if !m.first[t.Text[0]] {
		return match{}, false
	}
	if m.stems != nil && t.Letters {
		stem := m.stems.Stem(t.Text)
		if !m.sizes[len(stem)%len(m.sizes)] {
			return match{}, false
		}
		i, ok := m.tokens[stem]
		return match{t.Start, t.End, i}, ok
	}
	if i, ok := m.tokens[string(t.Text)]; ok {
		return match{t.Start, t.End, i}, true
	}
	for _, p := range m.prefixes {
		if t.Bigram && strings.HasPrefix(string(t.Text), p.prefix) {
			_, first := utf8.DecodeRuneInString(text[t.Start:])
			return match{t.Start, t.Start + first, p.term}, true
		}
	}
	return match{}, false
}
