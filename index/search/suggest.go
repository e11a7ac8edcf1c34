package search

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/spelling"
)

// A search suggests another query if at most suggestRare documents have all the words. Each
// word that hardly any document has is compared with words of similar spelling; the best
// one by distance and by number of documents takes its place. The search suggests the new
// query only if more documents have all its words. If no document has all the words of the
// query, and some document has those of the suggestion, the search returns the results of
// the suggestion ([Results].ShowingFor).
//
// All bounds are numbers of rows, not times, so that the same index gives the same
// suggestion: the number of words compared and replaced, the sixteen nearest words for each
// of them, up to a thousand documents of each of these.
const (
	suggestCompared = 8
	suggestWords    = 3
	suggestNear     = 16
	suggestCount    = 1000
	suggestRare     = 2 // documents with a word that may be a misprint
	suggestDistance = 2 // edits between the words; 1 for words of up to five letters and words in the index
)

// suggestion is a query with other words.
type suggestion struct {
	query     string // "" if there is none
	documents int    // documents with all its words, up to suggestCount
}

// suggest makes the suggestion for a search that found little.
func (s *search) suggest(ctx context.Context, inUse []*analysis.Stemmer) (out suggestion, err error) {
	better, err := s.betterWords(ctx, inUse)
	if err != nil || len(better) == 0 {
		return suggestion{}, err
	}
	out.query = s.c.Text
	for _, w := range slices.Backward(better) {
		out.query = out.query[:w.at] + w.word + out.query[w.at+len(w.typed):]
	}
	c, err := query.Compile(out.query, inUse, s.opts.Verbatim)
	if _, usage := errors.AsType[*UsageError](err); usage {
		return suggestion{}, nil
	} else if err != nil {
		return suggestion{}, err
	}
	out.documents, err = s.documents(ctx, c.Expr(query.AllWords), c.Fetched)
	return out, err
}

// unquoted returns the query without quotes, if some document has all its words. The
// search only suggests it, because quotes are deliberate.
func (s *search) unquoted(ctx context.Context, inUse []*analysis.Stemmer) (string, error) {
	if !strings.Contains(s.c.Text, `"`) || strings.Contains(s.c.Text, `-"`) {
		return "", nil
	}
	text := strings.Join(strings.Fields(strings.ReplaceAll(s.c.Text, `"`, " ")), " ")
	c, err := query.Compile(text, inUse, s.opts.Verbatim)
	if err != nil {
		return "", nil //nolint:nilerr // not a query, so no suggestion
	}
	n, err := s.documents(ctx, c.Expr(query.AllWords), c.Fetched)
	if n == 0 {
		text = ""
	}
	return text, err
}

// documents counts the documents of a period that match, up to suggestCount. Words are
// counted over all times: a word in the index is not a misprint just because no page of
// that day has it.
func (s *search) documents(ctx context.Context, expr *query.Expr, fetched query.Period) (n int, err error) {
	counts, err := s.from.counts(ctx, Matching{expr, fetched})
	if err != nil {
		return 0, err
	}
	return min(counts[0], suggestCount), nil
}

// replacement is a word of a query, and the word that was likely meant.
type replacement struct {
	at          int // in the normalised query
	typed, word string
}

// betterWords returns replacements of words that look misspelled, in order, including
// words in phrases and after operators. A word is replaced wherever it is.
func (s *search) betterWords(ctx context.Context, inUse []*analysis.Stemmer) (list []replacement, err error) {
	c := corrector{search: s, inUse: inUse, better: make(map[wordIn]string)}
	for _, t := range s.c.Terms {
		if t.Stop {
			continue
		}
		var tok analysis.Tokenizer
		for tok.Reset(t.Text); tok.Next(); {
			if !spelling.Correctable(&tok.Token) {
				continue
			}
			w := replacement{at: t.At + tok.Token.Start, typed: t.Text[tok.Token.Start:tok.Token.End]}
			word, err := c.correct(ctx, w.typed, wordIn{string(tok.Token.Text), t.Column})
			if err != nil {
				return nil, err
			}
			if word != "" {
				w.word = capitalisedAs(w.typed, word)
				list = append(list, w)
			}
		}
	}
	return list, nil
}

// corrector looks for better words, within the bounds of a search.
type corrector struct {
	*search
	inUse              []*analysis.Stemmer
	better             map[wordIn]string // "" if there is none
	compared, replaced int
}

// wordIn is a folded word in a column.
type wordIn struct{ word, column string }

// correct returns the word that the user likely meant, or "" if a word does not look misspelled.
func (c *corrector) correct(ctx context.Context, typed string, w wordIn) (word string, err error) {
	word, known := c.better[w]
	if known || c.replaced == suggestWords || c.compared == suggestCompared || analysis.IsStopWord(w.word, "") {
		return word, nil
	}
	counts, err := c.wordsIn(ctx, []string{typed}, w.column, c.inUse)
	if err != nil {
		return "", err
	}
	if counts[0] <= suggestRare {
		c.compared++
		if word, err = c.betterWord(ctx, w.word, w.column, counts[0], c.inUse); word != "" {
			c.replaced++
		}
	}
	c.better[w] = word
	return word, err
}

// capitalisedAs returns a word in lower case, capitalised if the typed one is.
func capitalisedAs(typed, word string) string {
	first, n := utf8.DecodeRuneInString(word)
	if capital, _ := utf8.DecodeRuneInString(typed); !unicode.IsUpper(capital) {
		return word
	}
	return string(unicode.ToUpper(first)) + word[n:]
}

// wordsIn counts the documents that have each word in a column; "" means any column.
func (s *search) wordsIn(ctx context.Context, words []string, column string, inUse []*analysis.Stemmer) ([]int, error) {
	out := make([]int, len(words))
	var sets []Matching
	var at []int // in out
	for i, word := range words {
		if t, ok := query.NewWord(word, column, inUse); ok {
			sets, at = append(sets, Matching{Expr: t.Expr()}), append(at, i)
		}
	}
	counts, err := s.from.counts(ctx, sets...)
	for i, n := range counts {
		out[at[i]] = min(n, suggestCount)
	}
	return out, err
}

// betterWord returns the word that the user likely meant by a folded word that some
// documents have, or "" if there is none.
func (s *search) betterWord(ctx context.Context, typed, column string, have int, inUse []*analysis.Stemmer) (best string, err error) {
	most := suggestDistance
	if have > 0 || utf8.RuneCountInString(typed) <= 5 {
		most = 1 // a word that is in the index may be right
	}
	near, err := s.from.near(ctx, typed, most)
	if err != nil {
		return "", err
	}
	words := make([]string, len(near))
	for i := range near {
		words[i] = near[i].Word
	}
	counts, err := s.wordsIn(ctx, words, column, inUse)
	if err != nil {
		return "", err
	}
	bestScore := 0.0
	for i, n := range counts {
		// One edit more must be outweighed by e³ = 20 times as many documents.
		if score := math.Log(float64(n)) - 3*float64(near[i].Distance-1); n > 5*have && (best == "" || score > bestScore) {
			best, bestScore = words[i], score
		}
	}
	return best, nil
}

// Nearest returns the nearest words of a list of words of similar spelling, each once.
func Nearest(list []NearWord) []NearWord {
	slices.SortFunc(list, func(a, b NearWord) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Word, b.Word))
	})
	list = slices.Compact(list)
	return list[:min(len(list), suggestNear)]
}
