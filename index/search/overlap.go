package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/webindexer/indexer/index/analysis"
	"github.com/webindexer/indexer/index/query"
)

// overlap measures how much a query and a name, a title or an anchor, agree. Both are sets
// of words. Bigrams of CJK scripts are words as well, and a compound ("kafka.consumer",
// "2.4") is all of its words. So a query that equals the name scores 1, in any script, and
// nothing scores more.
//
// People who know an identifier search for it as one word; others search for the words that it
// is made of: ByteArraySerializer is also "byte array serializer". A name has both forms, and
// the better match counts.

// How much a word counts if the name has only another form of it or another word for it, or if
// it is a single CJK character that is part of a bigram.
const (
	inflected  = 0.9
	synonymous = 0.5
	partly     = 0.5
)

// stopWeight is how much a stop word counts beside other words: "list of tools" is about as far
// from "list of ships" as from "ship list".
const stopWeight = 0.2

func weight(stop bool) float64 {
	if stop {
		return stopWeight
	}
	return 1
}

// Name is an analysed title, anchor or heading.
type Name struct {
	words   []nameWord
	divided []nameWord // with identifiers divided; nil if there are none
	dotted  bool       // it has a dotted name
}

// MakeName analyses a text in a language, a BCP 47 tag or "".
func MakeName(text, language string) Name {
	n := Name{words: nameWords(text, language)}
	if d := divideIdentifiers(text); d != text {
		n.divided = nameWords(d, language)
	}
	n.dotted = slices.ContainsFunc(n.words, func(w nameWord) bool { return w.dotted.in != 0 })
	return n
}

// MakeAnchor is [MakeName] for an anchor, in which the number of a chapter counts like other words
// (numbering.go).
func MakeAnchor(text, language string) Name {
	n := MakeName(text, language)
	for _, list := range [...][]nameWord{n.words, n.divided} {
		for i := range list {
			list[i].number = false
		}
	}
	return n
}

// Overlap returns how much a query and a name agree, from 0 to 1.
func (n *Name) Overlap(query []query.Word) float64 {
	most := overlap(n.words, query, n.dotted)
	if n.divided != nil {
		most = max(most, overlap(n.divided, query, n.dotted))
	}
	return most
}

// with returns the name with the words that it lacks added.
func (n Name) with(words []nameWord) Name {
	for _, w := range words {
		has := func(o nameWord) bool { return o.typed == w.typed }
		if !slices.ContainsFunc(n.words, has) {
			n.words = append(slices.Clip(n.words), w)
		}
		if n.divided != nil && !slices.ContainsFunc(n.divided, has) {
			n.divided = append(slices.Clip(n.divided), w)
		}
	}
	return n
}

// nameWord is a word of a name.
type nameWord struct {
	typed, stem string
	stop        bool // a stop word of English or of the language of the name
	number      bool // of the number of a chapter
	section     bool // of manual pages
	dotted      dotted
}

// nameWords returns the distinct words of a title or an anchor.
func nameWords(name, language string) (list []nameWord) {
	st := analysis.StemmerFor(language)
	var stems *analysis.StemCache
	if st != nil {
		stems = analysis.NewStemCache(st)
		defer stems.Release()
	}
	seen := make(map[string]int) // place of each word in the list
	name = analysis.Truncate(name, 1024)
	text := analysis.Normalize(name)
	numberStart, numberEnd := numbering(text)
	in := dottedNames(text)
	var t analysis.Tokenizer
	for t.Reset(text); t.Next(); {
		if t.Token.Tail {
			continue // it is in the last bigram
		}
		place := in.at(t.Token.Start)
		if i, found := seen[string(t.Token.Text)]; found {
			if place.in == 0 || place.last != list[i].dotted.last {
				list[i].dotted = dotted{} // not only there
			}
			list[i].number = list[i].number && t.Token.Start < numberEnd
			continue
		}
		w := nameWord{typed: string(t.Token.Text), dotted: place}
		w.number = t.Token.Start >= numberStart && t.Token.End <= numberEnd
		w.section = isManualSection(text, t.Token.Start, t.Token.End)
		w.stem, w.stop = w.typed, analysis.IsStopWord(w.typed, language)
		if stems != nil && t.Token.Letters {
			w.stem = stems.Stem(t.Token.Text)
		}
		seen[w.typed] = len(list)
		list = append(list, w)
	}
	return list
}

// divideIdentifiers puts a space between the words of an identifier that begin with a capital:
// "Byte Array Serializer", "HTTP Server", "rebalance Listener".
func divideIdentifiers(text string) string {
	var b strings.Builder
	var before, last rune // the two runes before, 0 for none
	at := 0               // text is divided up to here
	for i, r := range text {
		switch {
		case unicode.IsUpper(r) && unicode.IsLower(last):
			b.WriteString(text[at:i] + " ")
			at = i
		case unicode.IsLower(r) && unicode.IsUpper(last) && unicode.IsUpper(before):
			i -= utf8.RuneLen(last)
			b.WriteString(text[at:i] + " ")
			at = i
		}
		before, last = last, r
	}
	if at == 0 {
		return text
	}
	return b.String() + text[at:]
}

// overlap returns the share of the query's words that the name has, times the share of
// the name's words that the query has; for sets of words |q∩n|²/(|q|·|n|).
func overlap(name []nameWord, query []query.Word, dotted bool) float64 {
	if len(name) == 0 || len(query) == 0 {
		return 0
	}
	var few [32]float64 // how well the query matches each word of the name
	best := few[:min(len(name), len(few))]
	if len(name) > len(few) {
		best = make([]float64, len(name))
	}
	var aside [dottedMost + 1]bool
	if dotted {
		aside = lastUnasked(name, query)
	}
	asked, askedAll, have, haveAll := 0.0, 0.0, 0.0, 0.0
	joined := 0.0 // how well the name has this word and the word before it as one word
	for i := range query {
		most := joined
		joined = 0
		for j := range name {
			m := agreement(&query[i], &name[j])
			if i+1 < len(query) && len(name[j].typed) > len(query[i].Typed) && strings.HasPrefix(name[j].typed, query[i].Typed) {
				both := together(&query[i], &query[i+1], &name[j])
				joined, m = max(joined, both), max(m, both)
			}
			if aside[name[j].dotted.in] {
				m *= qualifier
			}
			most, best[j] = max(most, m), max(best[j], m)
		}
		most = max(most, phrasesIn(name, query[i].Full, inflected, best), phrasesIn(name, query[i].OtherPhrases, synonymous, best))
		w := weight(query[i].Stop)
		asked, askedAll = asked+w*most, askedAll+w
	}
	for j, m := range best {
		if m == 0 && (name[j].number || name[j].section) {
			continue
		}
		w := weight(name[j].stop)
		have, haveAll = have+w*m, haveAll+w
	}
	if haveAll == 0 { // the name is only a number, which the query lacks
		return 0
	}
	return asked * have / (askedAll * haveAll)
}

// phrasesIn returns worth if the name has one of the phrases, and 0 otherwise. It raises to worth what
// best says about the words of each phrase that the name has.
func phrasesIn(name []nameWord, phrases [][]string, worth float64, best []float64) (most float64) {
	for _, phrase := range phrases {
		if at := inOrder(name, phrase); at >= 0 {
			most = worth
			for j := range phrase {
				best[at+j] = max(best[at+j], worth)
			}
		}
	}
	return most
}

// inOrder finds the words that an abbreviation is short for: "regular expression" for regex. It
// returns a negative number if the name lacks them.
func inOrder(name []nameWord, full []string) int {
	for at := range len(name) - len(full) + 1 {
		here := name[at : at+len(full)]
		if slices.EqualFunc(here, full, func(n nameWord, w string) bool { return n.typed == w || n.stem == w }) {
			return at
		}
	}
	return -1
}

// together returns how well two neighbouring words of a query agree with a word that is both:
// "ignore files" with ignorefile. The word begins with the first of them.
func together(a, b *query.Word, n *nameWord) float64 {
	switch {
	case a.Prefix || b.Prefix:
		return 0
	case n.typed[len(a.Typed):] == b.Typed:
		return 1
	}
	if rest, found := strings.CutPrefix(n.stem, a.Typed); found && slices.Contains(b.Stems, rest) {
		return inflected
	}
	return 0
}

// agreement returns 1 for the same word, less for another form, a part or a synonym of
// it, and 0 for other words.
func agreement(q *query.Word, n *nameWord) float64 {
	switch {
	case q.Typed == n.typed:
		return 1
	case q.Prefix && strings.Contains(n.typed, q.Typed):
		return partly
	}
	for _, s := range q.Stems {
		if s == n.stem {
			return inflected
		}
	}
	for _, o := range q.Otherwise {
		if o == n.stem || o == n.typed {
			return synonymous
		}
	}
	return 0
}
