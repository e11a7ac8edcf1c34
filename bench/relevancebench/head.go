package relevancebench

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/webindexer/indexer/index/analysis"
)

// People also ask for a word or two that very many pages have: the name of a site, of a
// product, of a kind of page. Such a head query has no one right answer, so nothing is
// graded. What can be measured is whether the first page of its result repeats itself,
// because all versions and translations of a page have the same frequent words.
//
// The queries are the words, and the pairs of neighbouring words, that most titles have.
const (
	headQueries = 25 // of one word, and as many of two
	headLetters = 3  // the least letters of a word
	headTitles  = 2  // the least titles that have it
)

// headWords counts the words of titles.
type headWords map[string]int

// add counts the words and the pairs of a title, each once.
func (h headWords) add(title string) {
	seen := make(map[string]bool)
	count := func(query string) {
		if !seen[query] {
			seen[query] = true
			h[query]++
		}
	}
	var t analysis.Tokenizer
	before := ""
	for t.Reset(analysis.Normalize(title)); t.Next(); {
		w := string(t.Token.Text)
		if !t.Token.Letters || t.Token.Bigram || utf8.RuneCountInString(w) < headLetters || analysis.IsStopWord(w, "") {
			before = ""
			continue
		}
		count(w)
		if before != "" {
			count(before + " " + w)
		}
		before = w
	}
}

// queries are the most frequent words and pairs.
func (h headWords) queries() (list []string) {
	all := slices.SortedFunc(maps.Keys(h), func(a, b string) int { return cmp.Or(cmp.Compare(h[b], h[a]), cmp.Compare(a, b)) })
	left := map[bool]int{false: headQueries, true: headQueries}
	for _, query := range all {
		if h[query] < headTitles {
			break
		}
		if pair := isPair(query); left[pair] > 0 {
			left[pair]--
			list = append(list, query)
		}
	}
	return list
}

func isPair(query string) bool { return strings.Contains(query, " ") }

// repeatsOf is how many of the first ten hits of each query repeat one above them, on average.
func (p *pages) repeatsOf(ctx context.Context, queries []string, by answerer) (float64, error) {
	all := 0
	for _, query := range queries {
		hits, err := by(ctx, query)
		if err != nil {
			return 0, fmt.Errorf("%q: %w", query, err)
		}
		n, err := p.repeats(ctx, urlsOf(hits))
		if err != nil {
			return 0, err
		}
		all += n
	}
	return float64(all) / float64(max(len(queries), 1)), nil
}
