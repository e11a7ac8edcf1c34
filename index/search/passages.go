package search

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
)

// # Words in passages
//
// A long page has any few words sooner or later, by chance. A page that answers a question has its words
// in one sentence or heading, and a page about its subject has them together again and again. The index
// knows how often a document has each word; the stored texts show whether the words are close together. So
// if no title, heading or anchor names what the query asks for, the search looks into the texts of the best
// candidates for passages with the words of the query: it counts the passages that have all of them, and if
// there are none, it looks for the passage with the most.
//
// Other forms of a word count as the word. A word and its stem have a beginning in common, so a
// token with that beginning that is not much longer counts as a form of the word. That needs no
// stemmer for each language.

const (
	// passageTop is how many candidates are examined, the best first. With twenty, no more
	// pages are found.
	passageTop = 10
	// passageLeast is the least number of words, without stop words.
	passageLeast = 2
	// If a title or an anchor agrees with the query by more than passageNames, texts add
	// nothing.
	passageNames = 0.4
	// passageLength is how far apart the words of a passage begin, in bytes: about eight words.
	passageLength = 56
	// passageOnce is the factor, less one, for a document that has all the words in one passage.
	passageOnce = 0.5
	// passagePower says how much each further passage with all the words counts.
	passagePower = 0.3
	// passagesMost bounds how many of them are counted.
	passagesMost = 32
	// passageWords bounds the words that are looked for.
	passageWords = 32
	// formLetters is how many letters a form may have after the beginning that it shares with the word.
	formLetters = 4
	// formLeast is the least length of such a beginning, in bytes. A shorter word has to be the same.
	formLeast = 3
)

// PassagesQuestion asks how many passages of documents have all of some words, or the greatest share of
// the words in one passage.
type PassagesQuestion struct {
	IDs   []int64
	Words []PassageWord

	set *passageSet // made by Count
}

// PassageWord is a word as typed, or the beginning of all its forms.
type PassageWord struct {
	Typed      string
	Beginnings []string
}

// passageWordsOf returns the words of a query that are neither stop words nor single characters of
// CJK scripts.
func passageWordsOf(words []query.Word) (list []PassageWord) {
	for _, w := range words {
		if w.Stop || w.Prefix || len(list) == passageWords {
			continue
		}
		p := PassageWord{Typed: w.Typed}
		for _, stem := range w.Stems {
			if len(stem) == 0 {
				continue
			}
			begin := stem
			if strings.HasPrefix(w.Typed, stem[:len(stem)-1]) {
				begin = strings.TrimSuffix(commonBeginning(stem, w.Typed), "i") // ferries are ferri, and a ferry
			}
			p.add(begin)
			if root := strings.TrimRight(begin, "y"); len(root) < formLeast && (stem == root+"y" || stem == root+"i") {
				p.add(root + "y") // a fly, and flies
				p.add(root + "ie")
			}
		}
		list = append(list, p)
	}
	return list
}

// add adds the beginning of a form, unless it is too short.
func (w *PassageWord) add(begin string) {
	if len(begin) >= formLeast && !slices.Contains(w.Beginnings, begin) {
		w.Beginnings = append(w.Beginnings, begin)
	}
}

// commonBeginning returns what two words begin with.
func commonBeginning(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return a[:n]
}

// preferPassages raises the scores of candidates that have words of the query in one passage.
func (s *search) preferPassages(ctx context.Context, list []candidate) error {
	top := list[:min(len(list), passageTop)]
	if len(top) < 2 || slices.ContainsFunc(top, func(c candidate) bool { return max(c.titleMatch, c.anchorMatch) > passageNames }) {
		return nil
	}
	words := passageWordsOf(s.c.Words)
	if len(words) < passageLeast {
		return nil
	}
	if err := s.from.passages(ctx, top, words); err != nil {
		return err
	}
	for i := range top {
		c := &top[i]
		c.passageFactor = passageFactorOf(c.passages)
		c.score *= c.passageFactor
	}
	sortCandidates(list)
	return nil
}

// passageFactorOf returns the factor for the count of [PassagesQuestion.Count].
func passageFactorOf(count float64) float64 {
	if count < 1 {
		return 1 + passageOnce*count*count
	}
	return (1 + passageOnce) * math.Pow((1+count)/2, passagePower)
}

// passages counts the passages of candidates that have the words.
func (f *fanout) passages(ctx context.Context, list []candidate, words []PassageWord) error {
	return askEach(ctx, f, idsOf(list), func(rows []int64) *Question {
		return &Question{Passages: &PassagesQuestion{IDs: rows, Words: words}}
	}, func(a *Answer) []float64 { return a.Passages }, func(i int, count float64) { list[i].passages = count })
}

// Count returns how many passages of the title and the text have all the words, at most passagesMost in
// each; or if there are none, the greatest share of the words that one of them has, which is less than 1.
// The beginning of a long text is enough.
func (q *PassagesQuestion) Count(title, text string) float64 {
	if q.set == nil {
		q.set = newPassageSet(q.Words)
	}
	if len(q.Words) == 0 {
		return 0
	}
	inTitle, mostOfTitle := q.set.count(title)
	inText, mostOfText := q.set.count(text)
	if full := inTitle + inText; full > 0 {
		return float64(full)
	}
	return float64(max(mostOfTitle, mostOfText)) / float64(len(q.set.words))
}

// passageSet finds words.
type passageSet struct {
	words []PassageWord
	first [256]bool // first bytes
}

func newPassageSet(words []PassageWord) *passageSet {
	s := &passageSet{words: words[:min(len(words), passageWords)]}
	for _, w := range s.words {
		for _, form := range append([]string{w.Typed}, w.Beginnings...) {
			if form != "" { // a client on the network may send anything
				s.first[form[0]] = true
			}
		}
	}
	return s
}

// count counts the passages of a text that have all the words and do not overlap. most is the
// greatest number of words that begin within passageLength.
func (s *passageSet) count(text string) (full, most int) {
	var last [passageWords]int // where each word began last, plus one
	var t analysis.Tokenizer
	for t.Reset(analysis.Normalize(text)); ; {
		if t.SkipOthers(&s.first); !t.Next() {
			return full, most
		}
		found := s.find(t.Token.Text)
		if found == 0 {
			continue
		}
		for found != 0 {
			i := bits.TrailingZeros32(found)
			found &^= 1 << i
			last[i] = t.Token.Start + 1
		}
		here := 0
		for _, at := range last[:len(s.words)] {
			if at > 0 && t.Token.Start+1-at <= passageLength {
				here++
			}
		}
		if most = max(most, here); here < len(s.words) {
			continue
		}
		if full++; full == passagesMost {
			return full, most
		}
		last = [passageWords]int{}
	}
}

// find returns a bit for each word that a token is a form of.
func (s *passageSet) find(token []byte) (found uint32) {
	for i := range s.words {
		if s.words[i].has(token) {
			found |= 1 << i
		}
	}
	return found
}

func (w *PassageWord) has(token []byte) bool {
	if string(token) == w.Typed {
		return true
	}
	for _, begin := range w.Beginnings {
		if len(token) >= len(begin) && string(token[:len(begin)]) == begin && utf8.RuneCount(token[len(begin):]) <= formLetters {
			return true
		}
	}
	return false
}
