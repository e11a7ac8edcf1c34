package index

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf8"
)

// Words for "did you mean" come from the documents themselves, as they are spelled there
// (the full-text table has stems only). A word is kept under several keys, one
// for each way to leave out one of its first six letters, and one for all six. A
// misspelled word has keys in common with the word that was meant, if one
// edit, and often if two, lie between them in the first six letters (Garbe's
// symmetric deletion); what lies behind does not matter. So looking is a few exact
// reads, whatever the size of the vocabulary.
//
// What gets in: the words of titles and anchors, and those of the first 4 KiB of a
// text that a second document has, too, which leaves most misprints out. Words are
// never taken out; a suggestion is asked for before it is shown (suggest.go), so that
// words of documents that are gone are not suggested. The table depends on the order of
// delivery, as nothing else here does: which words of texts came twice is remembered by one
// process only, and only of the last million.
//
// Rejected: counting words by document exactly, which is as much work again as indexing
// them; scanning the terms of FTS5, which are stems, and take 200 ms at 4,000 documents.
const spellingSQL = `
CREATE TABLE spelling(key INTEGER NOT NULL, word TEXT NOT NULL, PRIMARY KEY(key, word)) WITHOUT ROWID;
`

const (
	spellingText   = 4 << 10 // bytes of a text whose words count
	spellingPrefix = 6       // letters that keys are made of
	spellingMin    = 4       // letters of the shortest word that is kept or corrected
	spellingMax    = 24      // and of the longest
	spellingSeen   = 1 << 20 // words that are remembered
)

// spelled are the words of a document, in lower case, each once.
type spelled struct {
	named []string // of title and anchors
	text  []string // of the text, and not in named
}

func spelledWords(d *Document) spelled {
	var s spelled
	known := make(map[string]bool)
	add := func(list []string, text string) []string {
		text = normalize(text)
		var t tokenizer
		t.reset(text)
		for t.next() {
			if !correctable(&t.tok) {
				continue
			}
			if w := strings.ToLower(text[t.tok.start:t.tok.end]); !known[w] && utf8.ValidString(w) {
				w = strings.Clone(w)
				known[w] = true
				list = append(list, w)
			}
		}
		return list
	}
	s.named = add(s.named, cutString(d.Title, 1024))
	for i := range d.Anchors {
		s.named = add(s.named, d.Anchors[i].Text)
	}
	s.text = add(nil, cutString(d.Text, spellingText))
	return s
}

// correctable reports whether a token is a word that spelling is about.
func correctable(t *token) bool {
	n := utf8.RuneCount(t.text)
	return t.letters && !t.bigram && n >= spellingMin && n <= spellingMax
}

// spellingKeys are the keys of a folded word.
func spellingKeys(folded string) []int64 {
	prefix := []rune(folded)
	prefix = prefix[:min(len(prefix), spellingPrefix)]
	keys := []int64{spellingKey(string(prefix))}
	for i := range prefix {
		keys = append(keys, spellingKey(string(prefix[:i])+string(prefix[i+1:])))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// spellingKey has 40 bits, which SQLite stores in few bytes. That two keys are the
// same by chance does no harm: words are compared.
func spellingKey(s string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // never fails
	x := h.Sum64()
	return int64((x ^ x>>40) & (1<<40 - 1))
}

// foldWord is the folded form of a word.
func foldWord(word string) string {
	var t tokenizer
	t.reset(normalize(word))
	if !t.next() {
		return ""
	}
	return string(t.tok.text)
}

// speller remembers which words of texts came before. The writer goroutine uses it.
type speller struct {
	seen map[string]bool // true: stored
}

// keep is the words that are to be stored now.
func (s *speller) keep(words *spelled) (list []string) {
	if s.seen == nil || len(s.seen) > spellingSeen {
		s.seen = make(map[string]bool)
	}
	for _, w := range words.named {
		if !s.seen[w] {
			list = append(list, w)
		}
	}
	for _, w := range words.text {
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

// addWords stores words for suggestions.
func (t *tables) addWords(words *spelled) error {
	for _, w := range t.speller.keep(words) {
		for _, k := range spellingKeys(foldWord(w)) {
			if err := t.exec("INSERT OR IGNORE INTO spelling(key, word) VALUES(?,?)", k, w); err != nil {
				return err
			}
		}
	}
	return nil
}
