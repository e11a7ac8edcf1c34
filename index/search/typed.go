package search

import (
	"context"
	"slices"

	"github.com/webindexer/indexer/index/analysis"
)

// # Words as they were typed
//
// The full-text index has stems, so a search for "polished" also finds "polishing". Most
// searches want that. A search that few pages answer does not: a user who types such words
// has read them, and a page that has them in other forms is another page. The index cannot
// tell the two apart, but the stored texts can.
//
// So if few documents have all the words of a query, the search looks for the words as typed in the
// texts of the best of these documents. A page that has all of them counts more, and a short page
// counts most: a long page has any few words sooner or later, by chance. (By query likelihood, a
// page of which these words are a larger part is more likely the one that was read.)
//
// A query that agrees with a title, a heading or an anchor asks for a page by its name. Then the
// words of texts say little, and nothing changes. Nor does it if a page has the words together in
// several passages: then the query describes what the page is about (passages.go).
//
// Rejected: exact forms beside the stems in the index. They take 13 % more bytes and 19 % more
// time (docs/format-index.md), for every document, and few searches ask for them. Rejected as
// well: words that are rare in all documents, instead of few documents with all the words. The
// stem of a rare word is often frequent: "operates" and "operation" have one.

const (
	// typedMost is the greatest number of documents that have all the words. With 20 or 30, the natural
	// queries for tuning stay as they are; without a bound, they lose (docs/ranking-experiments.md).
	typedMost = 30
	// typedTop is how many of them are examined, the best first. Examining all of them finds
	// no more of the right pages, and takes a tenth more time in one query of ten.
	typedTop = 20
	// typedLeast is the least number of words. One or two may be on any page, and say little
	// about where they were read.
	typedLeast = 3
	// namesPage is how much a title or an anchor must agree with the query for the query to
	// name a page.
	namesPage = 0.3
	// aboutWords is the least number of passages with all the words on a page about them. With
	// one, which a page may have by chance, a query of rare words found its page less often.
	aboutWords = 2
	// mostTokens bounds the tokens of a document, in all columns, if the rest of its text is read. A
	// longer page counts as having the words that its head lacks.
	mostTokens = 100_000
)

// MostRest bounds the rest of a text that is read for a TypedQuestion, in stored bytes.
const MostRest = 512 << 10

// TypedQuestion asks whether documents have some words as they were typed.
type TypedQuestion struct {
	IDs   []int64
	Words []string // folded

	set *typedSet // made by Look
}

// Typed says whether a document has the words of a TypedQuestion.
type Typed struct {
	All    bool  // the document has all of them, as typed
	Tokens int64 // of all its columns
}

// preferTyped raises the scores of the documents that have all the words of the query as they
// were typed. list is all documents that have the words in any form.
func (s *search) preferTyped(ctx context.Context, list []candidate) error {
	w, words := &s.opts.Weights, s.c.TypedWords()
	if w.Typed == 0 || len(words) < typedLeast || len(list) < 2 || len(list) > typedMost {
		return nil
	}
	if slices.ContainsFunc(list, func(c candidate) bool {
		return max(c.titleMatch, c.anchorMatch) > namesPage || c.passages >= aboutWords
	}) {
		return nil
	}
	top := list[:min(len(list), typedTop)]
	if err := s.from.typed(ctx, top, words); err != nil {
		return err
	}
	average := float64(s.from.tokens) / float64(s.from.rows)
	for i := range top {
		if c := &top[i]; c.typed.All {
			c.typedFactor = w.typedFactor(average / (average + float64(c.typed.Tokens)))
			c.score *= c.typedFactor
		}
	}
	sortCandidates(list)
	return nil
}

// typed says which candidates have all these words, as typed.
func (f *fanout) typed(ctx context.Context, list []candidate, words []string) error {
	return askEach(ctx, f, idsOf(list), func(rows []int64) *Question {
		return &Question{Typed: &TypedQuestion{IDs: rows, Words: words}}
	}, func(a *Answer) []Typed { return a.Typed }, func(i int, t Typed) { list[i].typed = t })
}

// TypedWords looks for words in the texts of one document.
type TypedWords struct {
	set    *typedSet
	found  uint64
	unread bool // a part of the text was not read, and may have the others
	tokens int64
}

// typedSet has the words. It is the same for all documents of a question.
type typedSet struct {
	bit   map[string]uint64
	first [256]bool // first bytes
	all   uint64
}

// maxTyped bounds the words. A query has hardly more.
const maxTyped = 64

// Look begins to look for the words in a document with this number of tokens in all columns.
func (q *TypedQuestion) Look(tokens int64) *TypedWords {
	if q.set == nil {
		q.set = &typedSet{bit: make(map[string]uint64)}
		for i, w := range q.Words[:min(len(q.Words), maxTyped)] {
			q.set.bit[w] |= 1 << i
			q.set.all |= 1 << i
			q.set.first[w[0]] = true
		}
	}
	return &TypedWords{set: q.set, tokens: tokens}
}

// Typed returns what was found.
func (w *TypedWords) Typed() Typed { return Typed{w.unread || w.found == w.set.all, w.tokens} }

// InHead looks into a document without the rest of its text; more says whether there is a rest.
// It reports whether to go on with InRest.
func (w *TypedWords) InHead(title, url, anchors, text string, more bool) (goOn bool) {
	for _, t := range [...]string{text, title, anchors, url} {
		w.in(t)
	}
	w.unread = more
	return more && w.found != w.set.all && w.tokens <= mostTokens
}

// InRest looks into the rest of a text, unless that is longer than [MostRest].
func (w *TypedWords) InRest(text string) {
	w.unread = false
	w.in(text)
}

// in looks into a text, until all words are found.
func (w *TypedWords) in(text string) {
	var t analysis.Tokenizer
	for t.Reset(analysis.Normalize(text)); w.found != w.set.all; {
		if t.SkipOthers(&w.set.first); !t.Next() {
			return
		}
		w.found |= w.set.bit[string(t.Token.Text)]
	}
}
