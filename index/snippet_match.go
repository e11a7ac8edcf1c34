package index

import "strings"

// matcher finds the terms of a query among the tokens of a document's text.
type matcher struct {
	stemmer  *stemmer
	tokens   map[string]int // token → number of its term
	prefixes []prefixTerm
	terms    int
}

type prefixTerm struct {
	prefix string
	term   int
}

// newMatcher takes the terms that are worth marking: stop words only when there is nothing else.
func newMatcher(terms []term, language string) *matcher {
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
			}
			if terms[i].prefix {
				m.prefixes = append(m.prefixes, prefixTerm{s[len(s)-1], m.terms})
			}
		}
		m.terms++
	}
	return m
}

// match is the number of the term that a token belongs to.
func (m *matcher) match(t *token) (int, bool) {
	if t.tail {
		return 0, false // part of the bigram before it
	}
	if m.stemmer != nil && t.letters {
		if i, ok := m.tokens[m.stemmer.stem(t.text)]; ok {
			return i, true
		}
		return 0, false
	}
	if i, ok := m.tokens[string(t.text)]; ok {
		return i, true
	}
	for _, p := range m.prefixes {
		if strings.HasPrefix(string(t.text), p.prefix) {
			return p.term, true
		}
	}
	return 0, false
}
