package index

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"indexer/page"
)

// candidate is a document that matches, before it becomes a hit.
type candidate struct {
	id              int64
	score, rank     float64
	url             page.URL
	language, title string
}

// Weak factors of the re-rank. Both only raise a score: BM25 does not see how much of a
// title the query is, nor how a page is linked to. On the known items that these were
// tuned with, a rank factor of 0.15 in place of 0.02 cost 7 points of mean reciprocal rank.
const (
	titleStrength = 1.0
	rankStrength  = 0.02
)

// rerank sorts the first rerankTop candidates by
//
//	bm25 · (1 + |q∩t|²/(|q|·|t|)) · (1 + 0.02·ln(1+rank))
//
// where q are the query's terms and t the distinct tokens of the title. What comes after
// keeps its plain score, which is not above any before it.
func rerank(list []candidate, terms []term) {
	top := list[:min(len(list), rerankTop)]
	for i := range top {
		c := &top[i]
		c.score *= 1 + titleStrength*titleMatch(c.title, c.language, terms)
		c.score *= 1 + rankStrength*math.Log1p(c.rank)
	}
	slices.SortStableFunc(top, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.rank, a.rank), cmp.Compare(a.url, b.url))
	})
}

// titleMatch is |q∩t|²/(|q|·|t|), from 0 to 1.
func titleMatch(title, language string, terms []term) float64 {
	tokens := titleTokens(title, language)
	if len(tokens) == 0 || len(terms) == 0 {
		return 0
	}
	hit := 0
	for i := range terms {
		if terms[i].in(tokens) {
			hit++
		}
	}
	return float64(hit) * float64(hit) / (float64(len(terms)) * float64(len(tokens)))
}

func titleTokens(title, language string) []string {
	a := analyzers.Get().(*analyzer)
	defer analyzers.Put(a)
	tokens := strings.Fields(a.column(cutString(title, 1024), stemmerFor(language)))
	slices.Sort(tokens)
	return slices.Compact(tokens)
}

// in reports whether all tokens of one of the term's sequences are in a sorted list.
func (t *term) in(sorted []string) bool {
	for _, s := range t.sequences {
		if !slices.ContainsFunc(s, func(w string) bool { return !containsToken(sorted, w, t.prefix) }) {
			return true
		}
	}
	return false
}

func containsToken(sorted []string, w string, prefix bool) bool {
	i, found := slices.BinarySearch(sorted, w)
	return found || prefix && i < len(sorted) && strings.HasPrefix(sorted[i], w)
}
