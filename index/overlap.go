package index

import (
	"strings"

	"indexer/index/analysis"
	"indexer/index/query"
)

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

// nameWords are the distinct words of a title or an anchor.
func nameWords(name, language string) (list []nameWord) {
	st := analysis.StemmerFor(language)
	var stems *analysis.StemCache
	if st != nil {
		stems = analysis.NewStemCache(st)
		defer stems.Release()
	}
	seen := make(map[string]bool)
	var t analysis.Tokenizer
	t.Reset(analysis.Normalize(analysis.Truncate(name, 1024)))
	for t.Next() {
		if t.Token.Tail || seen[string(t.Token.Text)] {
			continue // the tail is in the last bigram
		}
		w := nameWord{typed: string(t.Token.Text)}
		w.stem = w.typed
		if stems != nil && t.Token.Letters {
			w.stem = string(stems.Append(nil, t.Token.Text))
		}
		seen[w.typed] = true
		list = append(list, w)
	}
	return list
}

// overlap is the share of the query's words that the name has, times the share of the name's words that the
// query has; of sets of words |q∩n|²/(|q|·|n|).
func overlap(name []nameWord, query []query.Word) float64 {
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
			m := agreement(&query[i], &name[j])
			most, best[j] = max(most, m), max(best[j], m)
		}
		asked += most
	}
	for _, m := range best {
		have += m
	}
	return asked * have / (float64(len(query)) * float64(len(name)))
}

// agreement is 1 for the same word, less for another form or a part of it, 0 for others.
func agreement(q *query.Word, n *nameWord) float64 {
	switch {
	case q.Typed == n.typed:
		return 1
	case q.Prefix && strings.Contains(n.typed, q.Typed):
		return partly
	}
	for _, s := range q.Stems {
		if s == n.stem {
			return inflected
		}
	}
	return 0
}
