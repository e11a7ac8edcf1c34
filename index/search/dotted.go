package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/webindexer/indexer/index/query"
)

// # Dotted names
//
// The last part of a dotted name says what a page is about, and the parts before it say where that
// is: stats.summary.mean is about mean. A user who asks for "stats summary" wants the page about
// all of it, and not one of the many pages whose names begin like that. So where the query has no
// word of the last part, the parts before it count less.

const (
	// qualifier is how much the parts before the last one count if the query has no word of
	// the last.
	qualifier = 0.5
	// dottedParts is the least number of parts of a dotted name. With two it may be a file
	// (node.js), or the module that the page is about (os.path).
	dottedParts = 3
	// dottedMost is how many dotted names of a title or an anchor are distinguished.
	dottedMost = 7
)

// dotted says where in a dotted name a word is.
type dotted struct {
	in   int8 // number of the dotted name, from 1; 0 if the word is in none
	last bool // the word is in the last part
}

// dottedRanges are the dotted names of a text.
type dottedRanges []dottedRange

type dottedRange struct{ start, last, end int } // last is where the last part begins

func dottedNames(text string) (list dottedRanges) {
	if strings.Count(text, ".") < dottedParts-1 {
		return nil
	}
	for at := 0; at < len(text) && len(list) < dottedMost; {
		begin := strings.IndexFunc(text[at:], inDotted)
		if begin < 0 {
			break
		}
		at += begin
		length := strings.IndexFunc(text[at:], func(r rune) bool { return !inDotted(r) })
		if length < 0 {
			length = len(text) - at
		}
		field := strings.TrimRight(text[at:at+length], ".")
		last := strings.LastIndexByte(field, '.') + 1
		if strings.Count(field, ".") >= dottedParts-1 && isIdentifier(field) && isIdentifier(field[last:]) {
			list = append(list, dottedRange{at, at + last, at + len(field)})
		}
		at += length
	}
	return list
}

func inDotted(r rune) bool {
	return r == '.' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// isIdentifier reports whether a text begins as an identifier does. A version does not.
func isIdentifier(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '_' || unicode.IsLetter(r)
}

// at says where in a dotted name the word is that begins at this byte of the text.
func (l dottedRanges) at(start int) dotted {
	for i, r := range l {
		if start >= r.start && start < r.end {
			return dotted{in: int8(i + 1), last: start >= r.last}
		}
	}
	return dotted{}
}

// lastUnasked marks the dotted names of which the query has only parts before the last one. The
// first entry, that of words in no dotted name, is never set.
func lastUnasked(name []nameWord, words []query.Word) (unasked [dottedMost + 1]bool) {
	for j := range name {
		if d := name[j].dotted; d.in != 0 {
			unasked[d.in] = true
		}
	}
	for j := range name {
		if d := name[j].dotted; d.last && unasked[d.in] {
			for i := range words {
				unasked[d.in] = unasked[d.in] && agreement(&words[i], &name[j]) == 0
			}
		}
	}
	return unasked
}
