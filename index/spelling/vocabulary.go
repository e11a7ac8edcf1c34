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

// spelled is a word as it appears in a text.
type spelled struct {
	hash uint64 // of the word in lower case
	word string
}

// Add collects a token. It is a function for [analysis.Document.AnalyzeWords].
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

// Words returns the words that were added and that v does not have.
func (c *Collector) Words(v *Vocabulary) (out Words) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	taken := make(map[uint64]bool)
	take := func(list []spelled) (words []string) {
		for _, w := range list {
			if _, stored := v.seen.get(w.hash); stored || taken[w.hash] || !utf8.ValidString(w.word) {
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
// to find the words that a second document has. It is safe for concurrent use.
type Vocabulary struct {
	mu   sync.RWMutex
	seen hashSet
}

const (
	maxStored = 2 << 20
	maxSeen   = 1 << 20 // words that are not stored
)

// Know begins anew with the words of a stored list.
func (v *Vocabulary) Know(list []byte) {
	seen := makeHashSet(bytes.Count(list, []byte{'\n'}))
	lines(list, func(word, _ []byte) { seen.put(xxhash.Sum64(word), true) })
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen = seen
}

// Add returns the words to store now.
func (v *Vocabulary) Add(words *Words) (list []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.seen.used-v.seen.stored > maxSeen {
		v.seen = v.seen.onlyStored()
	}
	add := func(word string, hash uint64) {
		if v.seen.stored < maxStored {
			v.seen.put(hash, true)
			list = append(list, word)
		}
	}
	for _, w := range words.Named {
		h := xxhash.Sum64String(w)
		if _, stored := v.seen.get(h); !stored {
			add(w, h)
		}
	}
	for _, w := range words.Text {
		h := xxhash.Sum64String(w)
		before, stored := v.seen.get(h)
		if before && !stored {
			add(w, h)
		} else if !before {
			v.seen.put(h, false)
		}
	}
	return list
}

// Reset forgets everything.
func (v *Vocabulary) Reset() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen = hashSet{}
}
