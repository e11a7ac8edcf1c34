package index

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// A document is indexed by the stems of its own language only. A query has no
// known language, so each of its words is looked for as it stands and as each
// language that the index has documents of would stem it (query_expr.go).
// docs/format-index.md gives what the alternatives cost.

// stemmer reduces folded words to their stems by one Snowball algorithm
// (https://snowballstem.org). Safe for concurrent use.
type stemmer struct {
	name  string // ISO 639-1 code, as stored in the table stemmers
	run   func(*snowballstem.Env) bool
	cache [stemCache]atomic.Pointer[stemmed]
}

type stemmed struct{ word, stem string }

// stemCache is the number of slots of a stemmer's direct-mapped cache, about 2 MB
// when full. Running text repeats its words, and a Snowball run allocates.
const stemCache = 1 << 14

var stemSeed = maphash.MakeSeed()

// stem is the stem of a folded word.
func (s *stemmer) stem(word []byte) string {
	slot := &s.cache[maphash.Bytes(stemSeed, word)%stemCache]
	if e := slot.Load(); e != nil && e.word == string(word) {
		return e.stem
	}
	e := &stemmed{word: string(word)}
	env := snowballstem.NewEnv(e.word)
	s.run(env)
	e.stem = env.Current()
	if e.stem == "" {
		e.stem = e.word
	}
	slot.Store(e)
	return e.stem
}

var stemmers = func() map[string]*stemmer {
	m := make(map[string]*stemmer)
	for name, run := range map[string]func(*snowballstem.Env) bool{
		"da": danish.Stem, "de": german.Stem, "en": english.Stem, "es": spanish.Stem,
		"fi": finnish.Stem, "fr": french.Stem, "hu": hungarian.Stem, "it": italian.Stem,
		"nl": dutch.Stem, "no": norwegian.Stem, "pt": portuguese.Stem, "ro": romanian.Stem,
		"ru": russian.Stem, "sv": swedish.Stem, "tr": turkish.Stem,
	} {
		m[name] = &stemmer{name: name, run: run}
	}
	m["nb"], m["nn"] = m["no"], m["no"]
	return m
}()

// stemmerFor is the stemmer for a BCP 47 language tag, nil if there is none.
func stemmerFor(language string) *stemmer {
	return stemmers[primary(language)]
}

// primary is the primary subtag of a BCP 47 tag, in lower case.
func primary(language string) string {
	if i := strings.IndexAny(language, "-_"); i >= 0 {
		language = language[:i]
	}
	return strings.ToLower(language)
}
