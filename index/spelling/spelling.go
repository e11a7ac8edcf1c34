// Package spelling finds words of similar spelling, for "did you mean".
package spelling

import (
	"bytes"
	"math/bits"
	"unicode/utf8"

	"github.com/webindexer/indexer/index/analysis"
)

// Suggested words come from the documents themselves, as they are spelled there; the
// full-text table has only stems. The vocabulary is a plain list of words. A look-up goes
// through all of it: comparing the sets of letters of two words takes some nanoseconds, and
// excludes nearly all of them, so 200,000 words take a few milliseconds, which only
// queries with a word that hardly any document has pay.
//
// The vocabulary is the words of titles and anchors, and those words from the first 4 KiB
// of a text that a second document has as well, which excludes most misprints. Words are
// never removed, and a vocabulary of two million takes no more: words that come so late are
// rare. A search checks how many documents have a word before it suggests it, so words of
// deleted documents are not suggested. The stored words depend on the order of delivery, as
// nothing else in the index does: which words of texts came twice is remembered by one
// process only, and only for the last million words.
//
// Rejected: an exact count of documents by word, which costs as much again as indexing; a
// scan of the terms of FTS5, which are stems, and which takes 200 ms for 4,000 documents;
// words under keys that misspellings share (Garbe's symmetric deletion), which makes a
// look-up a few reads but takes seven rows for each word, in random order: a tenth of the
// processor time of indexing.
const (
	titleBytes = 1 << 10 // bytes of a title whose words count
	textBytes  = 4 << 10 // bytes of a text whose words count
	minLetters = 4       // letters of the shortest word that is kept or corrected
	maxLetters = 24      // and of the longest
)

// Correctable reports whether a token is a word that can be corrected.
func Correctable(t *analysis.Token) bool {
	if !t.Letters || t.Bigram || len(t.Text) < minLetters {
		return false
	}
	n := utf8.RuneCount(t.Text)
	return n >= minLetters && n <= maxLetters
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

// A stored list has a line for each word: the word and, if its folded form is another, a
// tab and that form.

// AppendLine appends the line of a word.
func AppendLine(list []byte, word string) []byte {
	list = append(list, word...)
	if folded := Fold(word); folded != word {
		list = append(append(list, '\t'), folded...)
	}
	return append(list, '\n')
}

// lines calls fn with each word of a list and its folded form.
func lines(list []byte, fn func(word, folded []byte)) {
	for len(list) > 0 {
		line, rest, _ := bytes.Cut(list, []byte{'\n'})
		list = rest
		if word, folded, other := bytes.Cut(line, []byte{'\t'}); other {
			fn(word, folded)
		} else {
			fn(line, line)
		}
	}
}

// Near calls fn with the words of a list that are at most so many edits away from a folded
// word, without that word itself.
func Near(list []byte, typed string, most int, fn func(word string, distance int)) {
	letters, length := lettersOf([]byte(typed))
	for len(list) > 0 {
		have, n, folded, end := scanLine(list)
		line := list[:end]
		list = list[min(end+1, len(list)):]
		// An edit takes away one letter of the set, adds one, or both.
		if n-length > most || length-n > most || bits.OnesCount64(have^letters) > 2*most {
			continue
		}
		if d := Distance(typed, string(line[folded:]), most); d > 0 && d <= most {
			fn(string(line[:wordEnd(folded, end)]), d)
		}
	}
}

// scanLine reads the first line of a list in one pass: the set of letters of the folded word
// and their number, where that word begins, and where the line ends. Nearly all lines are
// read no further.
func scanLine(list []byte) (set uint64, n, folded, end int) {
	for end < len(list) {
		c := list[end]
		switch {
		case c == '\n':
			return set, n, folded, end
		case c == '\t':
			end++
			set, n, folded = 0, 0, end
			continue
		case c < utf8.RuneSelf:
			set |= 1 << (c & 63)
			end++
		default:
			r, size := utf8.DecodeRune(list[end:])
			set |= 1 << (r & 63)
			end += size
		}
		n++
	}
	return set, n, folded, end
}

// wordEnd is the end of the word in a line.
func wordEnd(folded, end int) int {
	if folded == 0 {
		return end
	}
	return folded - 1
}

// lettersOf is the set of letters of a word, modulo 64, and their number.
func lettersOf(word []byte) (set uint64, n int) {
	set, n, _, _ = scanLine(word)
	return set, n
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
