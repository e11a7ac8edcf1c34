// Package spelling finds words of similar spelling, for "did you mean".
package spelling

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf8"

	"indexer/index/analysis"
)

// Suggested words come from the documents themselves, as they are spelled there; the
// full-text table has only stems. A word is stored under several keys: one for each way to
// leave out one of its first six letters, and one for all six. A misspelled word shares
// keys with the word that was meant if one edit, and often if two edits, lie between them
// in the first six letters (Garbe's symmetric deletion); later letters do not matter. So a
// look-up is a few exact reads, whatever the size of the vocabulary.
//
// The vocabulary is the words of titles and anchors, and those words from the first 4 KiB
// of a text that a second document has as well, which excludes most misprints. Words are
// never removed. A search checks how many documents have a word before it suggests it, so
// words of deleted documents are not suggested. The stored words depend on the order of
// delivery, as nothing else in the index does: which words of texts came twice is
// remembered by one process only, and only for the last million words.
//
// Rejected: an exact count of documents by word, which costs as much again as indexing; a
// scan of the terms of FTS5, which are stems, and which takes 200 ms for 4,000 documents.
const (
	textBytes  = 4 << 10 // bytes of a text whose words count
	keyLetters = 6       // letters that keys are made of
	minLetters = 4       // letters of the shortest word that is kept or corrected
	maxLetters = 24      // and of the longest
	maxSeen    = 1 << 20 // words that a Vocabulary remembers
)

// Words are the words of a document, in lower case, each once.
type Words struct {
	Named []string // of title and anchors
	Text  []string // of the text, and not in Named
}

// WordsOf finds the words of a document.
func WordsOf(d *analysis.Document) Words {
	var s Words
	known := make(map[string]bool)
	add := func(list []string, text string) []string {
		text = analysis.Normalize(text)
		var t analysis.Tokenizer
		t.Reset(text)
		for t.Next() {
			if !Correctable(&t.Token) {
				continue
			}
			if w := strings.ToLower(text[t.Token.Start:t.Token.End]); !known[w] && utf8.ValidString(w) {
				w = strings.Clone(w)
				known[w] = true
				list = append(list, w)
			}
		}
		return list
	}
	s.Named = add(s.Named, analysis.Truncate(d.Title, 1024))
	for _, a := range d.Anchors {
		s.Named = add(s.Named, a)
	}
	for _, a := range d.Outside {
		s.Named = add(s.Named, a)
	}
	s.Text = add(nil, analysis.Truncate(d.Text, textBytes))
	return s
}

// Correctable reports whether a token is a word that can be corrected.
func Correctable(t *analysis.Token) bool {
	n := utf8.RuneCount(t.Text)
	return t.Letters && !t.Bigram && n >= minLetters && n <= maxLetters
}

// Keys are the keys of a folded word.
func Keys(folded string) []int64 {
	prefix := []rune(folded)
	prefix = prefix[:min(len(prefix), keyLetters)]
	keys := []int64{key(string(prefix))}
	for i := range prefix {
		keys = append(keys, key(string(prefix[:i])+string(prefix[i+1:])))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// key has 40 bits, which SQLite stores in few bytes. Chance collisions do no harm,
// because words are compared.
func key(s string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // never fails
	x := h.Sum64()
	return int64((x ^ x>>40) & (1<<40 - 1))
}

// Fold is the folded form of a word.
func Fold(word string) string {
	var t analysis.Tokenizer
	t.Reset(analysis.Normalize(word))
	if !t.Next() {
		return ""
	}
	return string(t.Token.Text)
}

// Vocabulary remembers which words of texts it has seen, to find those that a second
// document has. It is not safe for concurrent use.
type Vocabulary struct {
	seen map[string]bool // true: stored
}

// Add gives the words that are to be stored now.
func (s *Vocabulary) Add(words *Words) (list []string) {
	if s.seen == nil || len(s.seen) > maxSeen {
		s.seen = make(map[string]bool)
	}
	for _, w := range words.Named {
		if !s.seen[w] {
			list = append(list, w)
		}
	}
	for _, w := range words.Text {
		stored, before := s.seen[w]
		if before && !stored {
			list = append(list, w)
		} else if !before {
			s.seen[w] = false
		}
	}
	for _, w := range list {
		s.seen[w] = true
	}
	return list
}

// Distance is the number of letters inserted, deleted, replaced, or swapped with their
// neighbour, each letter at most once (optimal string alignment). It is more than most if
// the words are further apart.
func Distance(a, b string, most int) int {
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
