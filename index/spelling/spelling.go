// Package spelling finds words of similar spelling, for "did you mean". It reads no files:
// package index stores the words and hands them over as a list.
package spelling

import (
	"bytes"
	"math"
	"math/bits"
	"unicode/utf8"

	"github.com/webindexer/indexer/index/analysis"
)

// Suggested words come from the documents themselves, as they are spelled there; the
// full-text table has only stems. The vocabulary is a plain list of words. A look-up goes
// through all words of about the same length: comparing the sets of letters of two words takes
// a few nanoseconds, and excludes nearly all of them, so 200,000 words take less than a
// millisecond. Only queries with a word that hardly any document has pay for that. The first
// such query prepares the list ([NewList]), which takes some milliseconds.
//
// The vocabulary is the words of titles and anchors, and those words from the first 4 KiB
// of a text that a second document has as well, which excludes most misprints. Words are
// never removed, and a vocabulary of two million words takes no more: words that come so
// late are rare. A search checks how many documents have a word before it suggests it, so
// words of deleted documents are not suggested. The stored words depend on the order of
// delivery, as nothing else in the index does: only one process remembers which words of
// texts it has seen once, and only the last million of them.
//
// Rejected: an exact count of documents by word, which costs as much again as indexing; a
// scan of the terms of FTS5, which are stems, and which takes 200 ms for 4,000 documents;
// words under keys that misspellings share (Garbe's symmetric deletion): a look-up takes
// only a few reads, but each word takes seven rows in random order, which is a tenth of
// the processor time of indexing.
const (
	titleBytes = 1 << 10 // bytes of a title whose words count
	textBytes  = 4 << 10 // bytes of a text whose words count
	minLetters = 4       // letters of the shortest word that is kept or corrected
	maxLetters = 24      // and of the longest such word
	maxBytes   = 256     // of the longest, as it is written: a letter may have any number of marks
)

// Correctable reports whether a token is a word that can be corrected.
func Correctable(t *analysis.Token) bool {
	if !t.Letters || t.Bigram || len(t.Text) < minLetters || t.End-t.Start > maxBytes {
		return false
	}
	n := utf8.RuneCount(t.Text)
	return n >= minLetters && n <= maxLetters
}

// Fold returns the folded form of a word.
func Fold(word string) string {
	var t analysis.Tokenizer
	t.Reset(analysis.Normalize(word))
	if !t.Next() {
		return ""
	}
	return string(t.Token.Text)
}

// A stored list has a line for each word: the word and, if its folded form differs, a tab
// and that form.

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

// List is a list of words that has been prepared for [List.Near], with twelve bytes for each
// word in addition to the lines, by length. A look-up then takes a few nanoseconds for each
// word of a suitable length.
type List struct {
	lines  []byte
	starts [maxLetters + 3]int // of the words of each length in letters; longer ones come last
	sets   []uint64            // of letters
	at     []uint32            // of the line
}

// maxList bounds the bytes of a list. It is many times the size of the longest vocabulary.
const maxList = math.MaxInt32

// NewList prepares a stored list. It keeps the lines, which must not be changed. Words after
// the first maxList bytes are left out.
//
// While changes arrive, a list serves only one look-up or two, so NewList reads the lines
// only once.
func NewList(lines []byte) *List {
	l := &List{lines: lines[:min(len(lines), maxList)]}
	type word struct {
		set uint64
		at  uint32
		n   uint8
	}
	words := make([]word, 0, bytes.Count(lines, []byte{'\n'})+1)
	for at := 0; at < len(l.lines); {
		set, n, _, end := scanLine(l.lines[at:])
		n = min(n, maxLetters+1)
		words = append(words, word{set, uint32(at), uint8(n)})
		l.starts[n+1]++
		at += end + 1
	}
	for n := range len(l.starts) - 1 {
		l.starts[n+1] += l.starts[n]
	}
	l.sets, l.at = make([]uint64, len(words)), make([]uint32, len(words))
	next := l.starts
	for _, w := range words {
		l.sets[next[w.n]], l.at[next[w.n]] = w.set, w.at
		next[w.n]++
	}
	return l
}

// Near calls fn with the words that are at most the given number of edits away from a
// folded word, except that word itself, in no particular order.
func (l *List) Near(typed string, most int, fn func(word string, distance int)) {
	letters, length := lettersOf([]byte(typed))
	least, longest := min(max(length-most, 0), maxLetters+1), min(length+most, maxLetters+1)
	first := l.starts[least]
	for i, set := range l.sets[first:l.starts[longest+1]] {
		// An edit takes away one letter of the set, adds one, or both.
		if bits.OnesCount64(set^letters) > 2*most {
			continue
		}
		line := l.lines[l.at[first+i]:]
		_, _, folded, end := scanLine(line)
		if d := Distance(typed, string(line[folded:end]), most); d > 0 && d <= most {
			fn(string(line[:wordEnd(folded, end)]), d)
		}
	}
}

// scanLine reads the first line of a list in one pass: the set of letters of the folded word
// and their number, where that word begins, and where the line ends.
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

// wordEnd returns the end of the word in a line.
func wordEnd(folded, end int) int {
	if folded == 0 {
		return end
	}
	return folded - 1
}

// lettersOf returns the set of letters of a word, modulo 64, and their number.
func lettersOf(word []byte) (set uint64, n int) {
	set, n, _, _ = scanLine(word)
	return set, n
}

// Distance returns the number of letters inserted, deleted, replaced, or swapped with
// their neighbour, each letter at most once (optimal string alignment). If that is more
// than most, the result may be any number above most.
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
