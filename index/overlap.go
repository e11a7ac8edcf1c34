package index

import (
	"strings"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
)

// overlap measures how much a query and a name, a title or an anchor, agree. Both are sets
// of words. Bigrams of CJK scripts are words as well, and a compound ("kafka.consumer",
// "2.4") is all of its words. So a query that equals the name matches it by 1, in any
// script, and nothing matches by more.

// What a word counts if the name has only another form of it, or if it is a single CJK
// character that is part of a bigram.
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
			w.stem = stems.Stem(t.Token.Text)
		}
		seen[w.typed] = true
		list = append(list, w)
	}
	return list
}

// overlap is the share of the query's words that the name has, times the share of the
// name's words that the query has; for sets of words |q∩n|²/(|q|·|n|).
func overlap(name []nameWord, query []query.Word) float64 {
	if len(name) == 0 || len(query) == 0 {
		return 0
	}
	var few [32]float64 // how well the query matches each word of the name
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

// agreement is 1 for the same word, less for another form or a part of it, and 0 for other
// words.
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
