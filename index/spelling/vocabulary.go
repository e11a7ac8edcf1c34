package spelling

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/webindexer/indexer/index/analysis"
)

// Words are the words of a document that a [Vocabulary] may not have, in lower case, each
// once.
type Words struct {
	Named []string // of title and anchors
	Text  []string // of the text, and not in Named
}

// Collector finds the words of a document while it is analysed. The zero value is usable.
type Collector struct{ named, text []spelled }

// Reset forgets the words, and keeps the memory for another document.
func (c *Collector) Reset() {
	clear(c.named)
	clear(c.text)
	c.named, c.text = c.named[:0], c.text[:0]
}

// spelled is a word as it stands in a text.
type spelled struct {
	hash uint64 // of the word in lower case
	word string
}

// Add is for [analysis.Document.AnalyzeWords].
func (c *Collector) Add(t *analysis.Token, text string, from analysis.Source) {
	inText := from == analysis.FromMain || from == analysis.FromRest
	if inText && t.End > textBytes || from == analysis.FromTitle && t.End > titleBytes || !Correctable(t) {
		return
	}
	w := spelled{word: text[t.Start:t.End]}
	if isASCII(w.word) {
		w.hash = xxhash.Sum64(t.Text) // folding has made it lower case
	} else {
		w.word = strings.ToLower(w.word)
		w.hash = xxhash.Sum64String(w.word)
	}
	if inText {
		c.text = append(c.text, w)
	} else {
		c.named = append(c.named, w)
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Words are the words that were added and that a vocabulary does not have.
func (c *Collector) Words(v *Vocabulary) (out Words) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	taken := make(map[uint64]bool)
	take := func(list []spelled) (words []string) {
		for _, w := range list {
			if v.stored(w.hash) || taken[w.hash] || !utf8.ValidString(w.word) {
				continue
			}
			taken[w.hash] = true
			words = append(words, strings.ToLower(strings.Clone(w.word)))
		}
		return words
	}
	out.Named = take(c.named)
	out.Text = take(c.text)
	return out
}

// Vocabulary remembers which words are stored, and which words of texts it has seen once,
// to find those that a second document has. It is safe for concurrent use.
type Vocabulary struct {
	mu   sync.RWMutex
	seen map[uint64]bool // by hash; true: stored
	have int             // stored ones
}

const (
	maxStored = 2 << 20
	maxSeen   = 1 << 20 // words that are not stored
)

func (v *Vocabulary) stored(hash uint64) bool { return v.seen[hash] }

func (v *Vocabulary) store(hash uint64) {
	if v.seen == nil {
		v.seen = make(map[uint64]bool)
	}
	v.seen[hash] = true
	v.have++
}

// Know begins anew with the words of a stored list.
func (v *Vocabulary) Know(list []byte) {
	seen := make(map[uint64]bool, bytes.Count(list, []byte{'\n'}))
	lines(list, func(word, _ []byte) { seen[xxhash.Sum64(word)] = true })
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen, v.have = seen, len(seen)
}

// Add returns the words to store now.
func (v *Vocabulary) Add(words *Words) (list []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.seen)-v.have > maxSeen {
		v.forget()
	}
	add := func(word string, hash uint64) {
		if v.have < maxStored {
			v.store(hash)
			list = append(list, word)
		}
	}
	for _, w := range words.Named {
		if h := xxhash.Sum64String(w); !v.stored(h) {
			add(w, h)
		}
	}
	for _, w := range words.Text {
		h := xxhash.Sum64String(w)
		stored, before := v.seen[h]
		if before && !stored {
			add(w, h)
		} else if !before {
			if v.seen == nil {
				v.seen = make(map[uint64]bool)
			}
			v.seen[h] = false
		}
	}
	return list
}

// forget forgets the words that were seen once.
func (v *Vocabulary) forget() {
	for h, stored := range v.seen {
		if !stored {
			delete(v.seen, h)
		}
	}
}

// Reset forgets everything.
func (v *Vocabulary) Reset() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen, v.have = nil, 0
}
