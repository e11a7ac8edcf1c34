package index

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A suggestion is made where at most suggestRare documents have all the words. Each
// word that hardly any document has is compared with words of similar spelling; the best by distance and by
// how many documents have it takes its place. The new query is shown only if
// more documents have all its words. Where nothing has all the words of the query, and
// something has those of the suggestion, that is what the search gives ([Results].ShowingFor).
//
// Everything is bounded by numbers of rows, not by time, so that the same index gives the same
// suggestion: so many words of a query are compared and so many replaced, a thousand words of
// similar spelling for each, the sixteen nearest of them counted, up to a thousand documents.
const (
	suggestCompared = 8
	suggestWords    = 3
	suggestSimilar  = 1000
	suggestNear     = 16
	suggestCount    = 1000
	suggestRare     = 2 // documents that a word has which may be a misprint
	suggestDistance = 2 // edits between the words, 1 for words of up to five letters and those that are there
)

// suggestion is a query with other words.
type suggestion struct {
	query     string // "" if there is none
	documents int    // that have all the words of it, up to suggestCount
}

// suggest makes the suggestion of a search that found little.
func (s *search) suggest(ctx context.Context, inUse []*stemmer) (out suggestion, err error) {
	better, err := s.betterWords(ctx, inUse)
	if err != nil || len(better) == 0 {
		return suggestion{}, err
	}
	out.query = s.c.text
	for _, w := range slices.Backward(better) {
		out.query = out.query[:w.at] + w.word + out.query[w.at+len(w.typed):]
	}
	c, err := compileQuery(out.query, inUse)
	if usage := (*UsageError)(nil); errors.As(err, &usage) {
		return suggestion{}, nil
	} else if err != nil {
		return suggestion{}, err
	}
	out.documents, err = s.documents(ctx, c.expr(allWords), c.fetched)
	return out, err
}

// unquoted is the query without quotes, if something has all the words of that. It is only
// told: who writes quotes wants these words next to each other.
func (s *search) unquoted(ctx context.Context, inUse []*stemmer) (string, error) {
	if !strings.Contains(s.c.text, `"`) || strings.Contains(s.c.text, `-"`) {
		return "", nil
	}
	query := strings.Join(strings.Fields(strings.ReplaceAll(s.c.text, `"`, " ")), " ")
	c, err := compileQuery(query, inUse)
	if err != nil {
		return "", nil //nolint:nilerr // it is no query, and so no suggestion
	}
	n, err := s.documents(ctx, c.expr(allWords), c.fetched)
	if n == 0 {
		query = ""
	}
	return query, err
}

// documents counts the documents of a period that match, up to suggestCount. Words are counted at all
// times: one that is in the index is no misprint because it is in no page of that day.
func (s *search) documents(ctx context.Context, expr string, fetched period) (n int, err error) {
	x, err := s.text(ctx)
	if err != nil {
		return 0, err
	}
	ids, err := x.dated(ctx, expr, fetched)
	return min(len(ids), suggestCount), err
}

// replacement is a word of a query, and the one that is likely meant.
type replacement struct {
	at          int // in the normalised query
	typed, word string
}

// betterWords are the words that look misspelled, in their order: those of phrases and
// behind operators, too.
func (s *search) betterWords(ctx context.Context, inUse []*stemmer) (list []replacement, err error) {
	compared := 0
	for _, t := range s.c.terms {
		if t.stop {
			continue
		}
		var tok tokenizer
		for tok.reset(t.text); tok.next(); {
			if !correctable(&tok.tok) || len(list) == suggestWords || compared == suggestCompared {
				continue
			}
			w := replacement{at: t.at + tok.tok.start, typed: t.text[tok.tok.start:tok.tok.end]}
			have, err := s.wordIn(ctx, w.typed, t.column, inUse)
			if err != nil {
				return nil, err
			}
			if have > suggestRare || isStopWord(string(tok.tok.text), "") {
				continue
			}
			compared++
			if w.word, err = s.betterWord(ctx, string(tok.tok.text), t.column, have, inUse); err != nil {
				return nil, err
			}
			if w.word != "" {
				w.word = capitalisedAs(w.typed, w.word)
				list = append(list, w)
			}
		}
	}
	return list, nil
}

// capitalisedAs is a word in lower case with a capital where the typed one has one.
func capitalisedAs(typed, word string) string {
	first, n := utf8.DecodeRuneInString(word)
	if !unicode.IsUpper(firstRune(typed)) {
		return word
	}
	return string(unicode.ToUpper(first)) + word[n:]
}

// wordIn counts the documents that have a word in a column, "" being any.
func (s *search) wordIn(ctx context.Context, word, column string, inUse []*stemmer) (int, error) {
	t, ok := newTerm(clause{text: word}, "", inUse)
	if !ok {
		return 0, nil
	}
	t.column = column
	return s.documents(ctx, t.expr(), period{})
}

// betterWord is the word that is likely meant by a folded one, which some documents have; "" if
// none is.
func (s *search) betterWord(ctx context.Context, typed, column string, have int, inUse []*stemmer) (best string, err error) {
	most := suggestDistance
	if have > 0 || utf8.RuneCountInString(typed) <= 5 {
		most = 1 // what is in the index twice as it was typed may be meant
	}
	near, err := s.similar(ctx, typed, most)
	if err != nil {
		return "", err
	}
	bestScore := 0.0
	for _, w := range near {
		n, err := s.wordIn(ctx, w.word, column, inUse)
		if err != nil {
			return "", err
		}
		// One edit more must be outweighed by e³ = 20 times as many documents.
		if score := math.Log(float64(n)) - 3*float64(w.distance-1); n > 5*have && (best == "" || score > bestScore) {
			best, bestScore = w.word, score
		}
	}
	return best, nil
}

// nearWord is a word of similar spelling.
type nearWord struct {
	word     string
	distance int
}

const selectSimilar = "SELECT DISTINCT s.word FROM json_each(?) j CROSS JOIN spelling s ON s.key=j.value LIMIT ?"

// similar lists the words nearest to a folded word, without itself.
func (s *search) similar(ctx context.Context, typed string, most int) (list []nearWord, err error) {
	keys, err := jsonList(spellingKeys(typed))
	if err != nil {
		return nil, err
	}
	rows, err := s.v.query(ctx, selectSimilar, keys, suggestSimilar)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var w nearWord
		if err := rows.Scan(&w.word); err != nil {
			return nil, err
		}
		folded := foldWord(w.word)
		if w.distance = editDistance(typed, folded, most); w.distance > 0 && w.distance <= most {
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b nearWord) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.word, b.word))
	})
	return list[:min(len(list), suggestNear)], rows.Err()
}

// editDistance is the number of letters inserted, left out, exchanged, or swapped with
// their neighbour, each letter at most once (optimal string alignment); more than most if it is more.
func editDistance(a, b string, most int) int {
	x, y := []rune(a), []rune(b)
	if d := len(x) - len(y); d > most || -d > most {
		return most + 1
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range row {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
