package search

import (
	"slices"
	"strings"

	"github.com/webindexer/indexer/index/query"
)

// OtherWord is a word or a phrase of a hit that matches another word of the query.
type OtherWord struct {
	Word string `json:"word"` // of the query
	As   string `json:"as"`   // as the hit has it
}

// otherWords lists what the title and the marked words of the snippet have instead of words of the
// query: what these are short for, their other spellings, and other words for them. Other words count
// only in names (otherwise.go).
func otherWords(words []query.Word, h *Hit) (list []OtherWord) {
	var marked strings.Builder
	for _, m := range h.Snippet.Marks {
		marked.WriteString(h.Snippet.Text[m.Start:m.End] + " ")
	}
	title, text := nameWords(h.Title, h.Language), nameWords(marked.String(), h.Language)
	for i := range words {
		w := &words[i]
		for _, as := range slices.Concat(
			have(title, w.Same), have(text, w.Same), haveInOrder(title, w.Full), haveInOrder(text, w.Full),
			have(title, w.Otherwise), haveInOrder(title, w.OtherPhrases),
		) {
			if o := (OtherWord{w.Typed, as}); as != w.Typed && !slices.Contains(list, o) {
				list = append(list, o)
			}
		}
	}
	return list
}

// have returns the words of a name that are one of others, in any form.
func have(name []nameWord, others []string) (list []string) {
	for _, n := range name {
		if slices.Contains(others, n.typed) || slices.Contains(others, n.stem) {
			list = append(list, n.typed)
		}
	}
	return list
}

// haveInOrder returns the phrases of others that a name has.
func haveInOrder(name []nameWord, others [][]string) (list []string) {
	for _, phrase := range others {
		if at := inOrder(name, phrase); at >= 0 {
			var typed []string
			for _, n := range name[at : at+len(phrase)] {
				typed = append(typed, n.typed)
			}
			list = append(list, strings.Join(typed, " "))
		}
	}
	return list
}
