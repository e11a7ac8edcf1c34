package index

import (
	"strings"
	"unicode/utf8"
)

// matcher finds the terms of a query among the tokens of a document's text.
type matcher struct {
	stemmer  *stemmer
	tokens   map[string]int // token → number of its term
	prefixes []prefixTerm
	terms    int
	first    [256]bool // first bytes of tokens; stems begin as their words do

	stems *stemCache // from begin to end; nil without a stemmer
	stem  []byte
}

type prefixTerm struct {
	prefix string
	term   int
}

// newMatcher takes the terms that are worth marking: stop words only when there is nothing else.
func newMatcher(terms []*term, language string) *matcher {
	m := &matcher{stemmer: stemmerFor(language), tokens: make(map[string]int)}
	onlyStops := true
	for i := range terms {
		onlyStops = onlyStops && terms[i].stop
	}
	for i := range terms {
		if terms[i].stop && !onlyStops {
			continue
		}
		for _, s := range terms[i].sequences {
			for _, w := range s {
				m.tokens[w] = m.terms
				m.first[w[0]] = true
			}
			if terms[i].prefix {
				m.prefixes = append(m.prefixes, prefixTerm{s[len(s)-1], m.terms})
			}
		}
		m.terms++
	}
	return m
}

// begin readies the matcher for a text, until end.
func (m *matcher) begin() {
	if m.stemmer != nil {
		m.stems = takeStemCache(m.stemmer)
	}
}

func (m *matcher) end() {
	if m.stems != nil {
		m.stems.putBack()
		m.stems = nil
	}
}

// match is the term that a token of text belongs to, and where it stands.
func (m *matcher) match(text string, t *token) (match, bool) {
	if !m.first[t.text[0]] {
		return match{}, false
	}
	if m.stems != nil && t.letters {
		m.stem = m.stems.stem(m.stem[:0], t.text)
		i, ok := m.tokens[string(m.stem)]
		return match{t.start, t.end, i}, ok
	}
	if i, ok := m.tokens[string(t.text)]; ok {
		return match{t.start, t.end, i}, true
	}
	for _, p := range m.prefixes {
		if t.bigram && strings.HasPrefix(string(t.text), p.prefix) {
			_, first := utf8.DecodeRuneInString(text[t.start:])
			return match{t.start, t.start + first, p.term}, true
		}
	}
	return match{}, false
}
