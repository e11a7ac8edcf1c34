package completion

import (
	"unicode/utf8"

	"github.com/webindexer/indexer/index/analysis"
)

// key is the folded form of a text, by which typed texts and stored ones are compared: its
// words in lower case and without diacritics, with a space between them. Words of scripts
// without spaces stay together.
type key struct {
	text   []byte
	starts []int // where something begins that can be typed: a word, or any character of a script without spaces
	open   bool  // the text may end within its last word
}

// fold makes the key of a text. It reuses the memory of an earlier one.
func (k *key) fold(text string) {
	text = analysis.Normalize(text)
	k.text, k.starts, k.open = k.text[:0], k.starts[:0], false
	var t analysis.Tokenizer
	runEnds := -1 // where the next character of a script without spaces would continue the last one
	for t.Reset(text); t.Next(); {
		word, continues := t.Token.Text, false
		if t.Token.Bigram {
			// A bigram is a character and the next character, which begins the next token.
			_, n := utf8.DecodeRune(word)
			word, continues = word[:n], t.Token.Start == runEnds
			runEnds = t.Token.First
		}
		if len(k.text) > 0 && !continues {
			k.text = append(k.text, ' ')
		}
		k.starts = append(k.starts, len(k.text))
		k.text = append(k.text, word...)
		k.open = t.Token.End == len(text)
	}
}

// prefix makes the key of a text that is being typed. After "kafka " it ends with a
// space, because the word is complete.
func (k *key) prefix(typed string) {
	if k.fold(typed); len(k.text) > 0 && !k.open {
		k.text = append(k.text, ' ')
	}
}
