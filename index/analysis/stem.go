package analysis

import (
	"runtime"
	"slices"

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

// A document is indexed only under the stems of its own language. The language of a query is
// unknown, so each of its words is looked for as typed and as every language in the index
// would stem it (package query). docs/format-index.md has the cost of the alternatives.

// Stemmer reduces folded words to their stems with one Snowball algorithm
// (https://snowballstem.org). It is safe for concurrent use.
type Stemmer struct {
	Name string // ISO 639-1 code, as stored in the table stemmers
	run  func(*snowballstem.Env) bool
	idle chan *StemCache
}

// Stem returns the stem of a folded word.
func (s *Stemmer) Stem(word string) string {
	env := snowballstem.NewEnv(word)
	s.run(env)
	if stem := env.Current(); stem != "" {
		return stem
	}
	return word
}

// Languages returns the languages that have this stemmer. A nil stemmer has none.
func (s *Stemmer) Languages() (list []string) {
	for language, other := range stemmers {
		if s != nil && other == s {
			list = append(list, language)
		}
	}
	slices.Sort(list)
	return list
}

var stemmers = func() map[string]*Stemmer {
	m := make(map[string]*Stemmer)
	for name, run := range map[string]func(*snowballstem.Env) bool{
		"da": danish.Stem, "de": german.Stem, "en": english.Stem, "es": spanish.Stem,
		"fi": finnish.Stem, "fr": french.Stem, "hu": hungarian.Stem, "it": italian.Stem,
		"nl": dutch.Stem, "no": norwegian.Stem, "pt": portuguese.Stem, "ro": romanian.Stem,
		"ru": russian.Stem, "sv": swedish.Stem, "tr": turkish.Stem,
	} {
		m[name] = &Stemmer{Name: name, run: run, idle: make(chan *StemCache, runtime.GOMAXPROCS(0))}
	}
	m["nb"], m["nn"] = m["no"], m["no"]
	return m
}()

// StemmerFor returns the stemmer for a BCP 47 language tag, or nil if there is none.
func StemmerFor(language string) *Stemmer {
	return stemmers[PrimaryLanguage(language)]
}
