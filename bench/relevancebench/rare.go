package relevancebench

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/index/analysis"
)

// People who remember a few unusual words of a page search for these. The words of such an
// item are in at least two documents, because a word that only one has asks nothing of the
// ranking, and in few.
const (
	rareWords     = 3
	rareLetters   = 4    // the least letters of a word
	rareMost      = 0.01 // of the documents have the word at most
	rareMostLeast = 5    // or this many, in a small index
)

// rareItems makes an item of each document that has enough rare words. Which of its rare
// words are taken depends on the document only.
func rareItems(ctx context.Context, r *index.Reader, documents int) (list []knownItem, err error) {
	have := make(map[string]int)
	err = r.Documents(ctx, func(d index.Document) error {
		for w := range textWords(d.Text) {
			have[w]++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	most := max(rareMostLeast, int(rareMost*float64(documents)))
	err = r.Documents(ctx, func(d index.Document) error {
		places := textWords(d.Text)
		var rare []string
		for w := range places {
			if have[w] >= 2 && have[w] <= most {
				rare = append(rare, w)
			}
		}
		if len(rare) < rareWords {
			return nil
		}
		slices.SortFunc(rare, func(a, b string) int {
			return cmp.Or(cmp.Compare(hashOf(0, string(d.URL)+a), hashOf(0, string(d.URL)+b)), cmp.Compare(a, b))
		})
		rare = rare[:rareWords]
		slices.SortFunc(rare, func(a, b string) int { return places[a] - places[b] })
		list = append(list, knownItem{query: strings.Join(rare, " "), want: d.URL})
		return nil
	})
	return list, err
}

// textWords are the distinct words of a text that an item may have, with their first places.
func textWords(text string) map[string]int {
	list := make(map[string]int)
	var t analysis.Tokenizer
	for t.Reset(analysis.Normalize(text)); t.Next(); {
		if !t.Token.Letters || t.Token.Bigram || len(t.Token.Text) < rareLetters || analysis.IsStopWord(string(t.Token.Text), "") {
			continue
		}
		if w := string(t.Token.Text); list[w] == 0 {
			list[w] = t.Token.End
		}
	}
	return list
}
