package snippet

import (
	"slices"
	"strings"
	"unicode"
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
	phrases  []phrase
	terms    int
	first    [256]bool // first bytes of tokens; stems begin as their words do
	sizes    [64]bool  // lengths of tokens, modulo 64

	stems *analysis.StemCache // from begin to end; nil without a stemmer
}

type prefixTerm struct {
	prefix string
	term   int
}

// phrase is a quoted phrase. Its words count as one term, as those of a name do, and the whole
// phrase counts as another: a snippet that has some of the words says nothing about the phrase.
type phrase struct {
	words      []string
	term       int
	next       int // of words, after those that were found last
	start, end int // of these
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
		if terms[i].Required && len(terms[i].Sequences[0]) > 1 {
			for _, s := range terms[i].Sequences {
				m.phrases = append(m.phrases, phrase{words: s, term: m.terms})
			}
			m.terms++
		}
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

// distinct returns how many of the terms a text has.
func (m *matcher) distinct(text string) int {
	_, best := bestWindow(analysis.Normalize(text), m)
	return best.distinct
}

// whole returns the phrase that a token of text completes. The token belongs to a term.
func (m *matcher) whole(text string, t *analysis.Token) (found match, ok bool) {
	word := t.Text
	if m.stems != nil && t.Letters {
		word = []byte(m.stems.Stem(t.Text))
	}
	for i := range m.phrases {
		p := &m.phrases[i]
		if p.next > 0 && (p.words[p.next] != string(word) || hasWord(text[min(p.end, t.Start):t.Start])) {
			p.next = 0
		}
		if p.words[p.next] != string(word) {
			continue
		}
		if p.next == 0 {
			p.start = t.Start
		}
		if p.next, p.end = p.next+1, t.End; p.next == len(p.words) {
			p.next = 0
			found, ok = match{p.start, t.End, p.term}, true
		}
	}
	return found, ok
}

// hasWord reports whether a text has a word.
func hasWord(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// match returns the term that a token of text belongs to, and its place.
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
