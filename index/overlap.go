package index

import "strings"

// How much a query and a name are the same: a title or an anchor. Both are sets of words, bigrams of
// CJK scripts being words as well; a compound ("kafka.consumer", "2.4") is all of its words. So a query that
// is the name, whatever it is written in, matches it by 1, and nothing matches more.

// What a word counts that a name has in another form only, and a single CJK character
// that is a part of a bigram.
const (
	inflected = 0.9
	partly    = 0.5
)

// nameWord is a word of a name.
type nameWord struct{ typed, stem string }

// queryWord is a word of a query, and as each stemmer in use makes it.
type queryWord struct {
	typed  string
	stems  []string
	prefix bool // a single CJK character
}

// nameWords are the distinct words of a title or an anchor.
func nameWords(name, language string) (list []nameWord) {
	st := stemmerFor(language)
	var stems *stemCache
	if st != nil {
		stems = takeStemCache(st)
		defer stems.putBack()
	}
	seen := make(map[string]bool)
	var t tokenizer
	t.reset(normalize(cutString(name, 1024)))
	for t.next() {
		if t.tok.tail || seen[string(t.tok.text)] {
			continue // the tail is in the last bigram
		}
		w := nameWord{typed: string(t.tok.text)}
		w.stem = w.typed
		if stems != nil && t.tok.letters {
			w.stem = string(stems.stem(nil, t.tok.text))
		}
		seen[w.typed] = true
		list = append(list, w)
	}
	return list
}

// queryWords are the distinct words of terms, without those of inurl:.
func queryWords(terms []*term) (list []queryWord) {
	seen := make(map[string]bool)
	for _, t := range terms {
		if t.column == columnOf[clauseURL] {
			continue
		}
		for j, typed := range t.sequences[0] {
			if seen[typed] {
				continue
			}
			seen[typed] = true
			w := queryWord{typed: typed, prefix: t.prefix && j == len(t.sequences[0])-1}
			for _, s := range t.sequences {
				if len(s) == len(t.sequences[0]) { // not a hyphened word in one
					w.stems = append(w.stems, s[j])
				}
			}
			list = append(list, w)
		}
	}
	return list
}

// overlap is the share of the query's words that the name has, times the share of the name's words that the
// query has; of sets of words |q∩n|²/(|q|·|n|).
func overlap(name []nameWord, query []queryWord) float64 {
	if len(name) == 0 || len(query) == 0 {
		return 0
	}
	var few [32]float64 // of each word of the name, how well the query has it
	best := few[:min(len(name), len(few))]
	if len(name) > len(few) {
		best = make([]float64, len(name))
	}
	asked, have := 0.0, 0.0
	for i := range query {
		most := 0.0
		for j := range name {
			m := query[i].matches(&name[j])
			most, best[j] = max(most, m), max(best[j], m)
		}
		asked += most
	}
	for _, m := range best {
		have += m
	}
	return asked * have / (float64(len(query)) * float64(len(name)))
}

// matches is 1 for the same word, less for another form or a part of it, 0 for others.
func (q *queryWord) matches(n *nameWord) float64 {
	switch {
	case q.typed == n.typed:
		return 1
	case q.prefix && strings.Contains(n.typed, q.typed):
		return partly
	}
	for _, s := range q.stems {
		if s == n.stem {
			return inflected
		}
	}
	return 0
}
