package webgen

import (
	"math/rand/v2"
	"strings"
)

// language is a natural language, by the words without which no text of it is written.
// They are the most frequent words of a generated text, so language detection finds
// the language; all other words are invented.
type language struct {
	tag   string
	words []string
}

var (
	english = &language{"en", strings.Fields(`the of and to in is that it for was on are as with his they at be this from
		have or by one had not but what all were when we there can an your which their said if do will each about
		how up out them then she many some so these would other into has more her two like him see time could no
		make than first been its who now people my made over did down only way find use may water long little very after
		words called just where most know`)}
	german = &language{"de", strings.Fields(`der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als
		auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war
		haben nur oder aber vor zur bis mehr durch man sein wurde sei ihr diese können unter wenn dieser kann`)}
	french = &language{"fr", strings.Fields(`de la le et les des en un du une que est pour qui dans a par plus pas au sur ne
		se ce il sont la avec son ses aux cette mais comme ou si leur elle être deux même nous ont ces tout fait aussi
		entre après peut sans encore autres était très bien où toujours vous notre depuis dont`)}
)

func drawLanguage(rng *rand.Rand) *language {
	switch x := rng.Float64(); {
	case x < 0.8:
		return english
	case x < 0.9:
		return german
	}
	return french
}

const (
	// vocabulary bounds how many words are invented.
	vocabulary = 2_000_000
	// topical is the share of words that come from a page's topic.
	topical = 0.15
)

// speaker draws the words of a page.
type speaker struct {
	rng      *rand.Rand
	zipf     *rand.Zipf
	language *language
	topic    int
}

func newSpeaker(rng *rand.Rand, l *language, topic int) *speaker {
	// The vocabulary of a corpus then grows by about the square root of its length.
	return &speaker{rng: rng, zipf: rand.NewZipf(rng, 1.25, 4, vocabulary-1), language: l, topic: topic}
}

func (s *speaker) word() string {
	if s.rng.Float64() < topical {
		return pseudoWord(s.topic + int(s.rng.ExpFloat64()*300))
	}
	rank := int(s.zipf.Uint64())
	if rank < len(s.language.words) {
		return s.language.words[rank]
	}
	return pseudoWord(rank)
}

const (
	onsets = "bdfgklmnprstvz"
	vowels = "aeiou"
	codas  = "nrslt"
)

// pseudoWord is an invented word that can be pronounced; different numbers have
// different words, and small numbers short ones.
func pseudoWord(n int) string {
	const syllables = len(onsets) * len(vowels)
	b := make([]byte, 0, 12)
	coda := n % (len(codas) + 1)
	n /= len(codas) + 1
	for more := true; more; more = n > 0 {
		b = append(b, onsets[n%syllables/len(vowels)], vowels[n%len(vowels)])
		n /= syllables
	}
	if coda > 0 {
		b = append(b, codas[coda-1])
	}
	return string(b)
}
