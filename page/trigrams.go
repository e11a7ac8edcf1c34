package page

import (
	_ "embed"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
)

// Detection by trigrams (Cavnar, Trenkle 1994): a language is known by its 300 most
// frequent trigrams, and a text is in the language whose ranking is nearest to its own.
// The profiles and the arithmetic are those of whatlanggo, and the answers are equal to
// its answers (TestDetectAsLibrary). The library looks up each trigram of each of some
// fifty profiles in the text's ranking, 15,000 look-ups of strings a page. Here one
// index of all profiles is searched for the trigrams of the text, some 500.

//go:generate go run trigrams_gen.go

//go:embed trigrams.txt
var trigramsText string

// trigram is three code points of 21 bits, so that comparing numbers compares strings.
type trigram uint64

// occurrence says at which rank a language has a trigram.
type occurrence struct{ language, rank uint16 }

// profiles are those of the languages of one script.
type profiles struct {
	languages []whatlanggo.Lang
	trigrams  map[trigram][]occurrence
}

const (
	profileSize = 300 // trigrams of a language
	// absentDistance is what a trigram of the profile adds that the text lacks.
	absentDistance = profileSize
)

// loadProfiles returns the profiles by script, the Unicode name in lower case.
var loadProfiles = sync.OnceValues(func() (map[string]*profiles, error) {
	byCode := make(map[string]whatlanggo.Lang)
	for lang := range whatlanggo.Langs {
		byCode[lang.Iso6393()] = lang
	}
	all := make(map[string]*profiles)
	for line := range strings.Lines(trigramsText) {
		script, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		code, text, _ := strings.Cut(rest, " ")
		lang, ok := byCode[code]
		runes := []rune(text)
		if !ok || len(runes) != 3*profileSize {
			return nil, fmt.Errorf("trigrams.txt: %s: unknown language, or %d code points where %d belong; run go generate", code, len(runes), 3*profileSize)
		}
		p := all[script]
		if p == nil {
			p = &profiles{trigrams: make(map[trigram][]occurrence)}
			all[script] = p
		}
		for i := 0; i < len(runes); i += 3 {
			t := trigramOf(runes[i], runes[i+1], runes[i+2])
			p.trigrams[t] = append(p.trigrams[t], occurrence{uint16(len(p.languages)), uint16(i / 3)})
		}
		p.languages = append(p.languages, lang)
	}
	return all, nil
})

func trigramOf(a, b, c rune) trigram { return trigram(a)<<42 | trigram(b)<<21 | trigram(c) }

// detect returns the language that whatlanggo.Detect finds in a text, and whether the
// library calls that reliable.
func detect(text string) (lang whatlanggo.Lang, reliable bool) {
	all, err := loadProfiles()
	script := "latin"
	if !isLatin(text) {
		script = strings.ToLower(whatlanggo.Scripts[whatlanggo.DetectScript(text)])
	}
	p := all[script]
	if err != nil || p == nil {
		info := whatlanggo.Detect(text)
		return info.Lang, info.IsReliable()
	}
	return p.nearest(rankTrigrams(text))
}

// isLatin reports whether a text has Latin letters and none of another script. Most
// texts do, and the library tries each letter with 23 scripts.
func isLatin(text string) bool {
	letters := false
	for _, r := range text {
		switch {
		case 'a' <= r|0x20 && r|0x20 <= 'z' || r >= utf8.RuneSelf && unicode.Is(unicode.Latin, r):
			letters = true
		case r >= utf8.RuneSelf && trigramRune(r) != ' ':
			return false
		}
	}
	return letters
}

// nearest compares a ranking with all profiles. The confidence that the library
// computes is above its threshold of 0.8 if the best score is ahead of the second by a
// share that depends on how many trigrams there are.
func (p *profiles) nearest(ranking []trigram) (lang whatlanggo.Lang, reliable bool) {
	scores := make([]int, len(p.languages)) // profileSize · absentDistance − distance
	for n, t := range ranking {
		for _, o := range p.trigrams[t] {
			d := n - int(o.rank)
			scores[o.language] += absentDistance - max(d, -d)
		}
	}
	best, second := -1, 0
	for i, score := range scores {
		switch {
		case best < 0:
			best = i
		case score > scores[best]:
			best, second = i, scores[best]
		case i == 1 || score > second:
			second = score
		}
	}
	first := scores[best]
	switch {
	case first == 0:
		return -1, false
	case second == 0:
		return p.languages[best], float64(first/500) > whatlanggo.ReliableConfidenceThreshold
	}
	rate := float64(first-second) / float64(second)
	wanted := 12/float64(len(ranking)) + 0.05
	return p.languages[best], rate > wanted || rate/wanted > whatlanggo.ReliableConfidenceThreshold
}

// rankTrigrams returns the trigrams of a text by falling frequency. It ignores case,
// and treats everything but letters as space; a space in the middle has letters on both
// sides.
func rankTrigrams(text string) []trigram {
	c := newTrigramCounts(len(text) + 1)
	defer trigramTables.Put(c)
	r1, r2 := ' ', rune(-1)
	next := func(r3 rune) {
		if r2 >= 0 {
			if r2 != ' ' || r1 != ' ' && r3 != ' ' {
				c.add(trigramOf(r1, r2, r3))
			}
			r1 = r2
		}
		r2 = r3
	}
	for _, r := range text {
		next(trigramRune(r))
	}
	next(' ')
	return c.ranking()
}

// trigramCounts counts trigrams in a table with open addressing, and sorts by counting. With
// a map and a sort by comparison, detection takes twice as long.
type trigramCounts struct {
	slots []trigramCount
	most  int // the greatest n
	used  int // slots
}

type trigramCount struct {
	t trigram
	n int // 0: free
}

// trigramTables are tables that are not in use. A text has at most maxDetectBytes, so none is
// large.
var trigramTables = sync.Pool{New: func() any { return new(trigramCounts) }}

// newTrigramCounts returns an empty table with room for the given number of different
// trigrams.
func newTrigramCounts(room int) *trigramCounts {
	c := trigramTables.Get().(*trigramCounts)
	size := 1 << bits.Len(uint(room+room/2))
	c.slots = slices.Grow(c.slots[:0], size)[:size]
	clear(c.slots)
	c.most, c.used = 0, 0
	return c
}

func (c *trigramCounts) add(t trigram) {
	mask := uint64(len(c.slots) - 1)
	for i := uint64(t) * 0x9E3779B97F4A7C15 >> 32 & mask; ; i = (i + 1) & mask {
		switch s := &c.slots[i]; {
		case s.n == 0:
			s.t = t
			c.used++
			fallthrough
		case s.t == t:
			s.n++
			c.most = max(c.most, s.n)
			return
		}
	}
}

// ranking returns the trigrams by falling frequency, and the greater before the lesser.
func (c *trigramCounts) ranking() []trigram {
	starts := make([]int, c.most+1) // by n, where the trigrams that occur n times begin
	for _, s := range c.slots {
		if s.n > 0 {
			starts[s.n-1]++
		}
	}
	for n := c.most - 1; n >= 0; n-- {
		starts[n] += starts[n+1]
	}
	list := make([]trigram, c.used)
	ends := slices.Clone(starts)
	for _, s := range c.slots {
		if s.n > 0 {
			list[ends[s.n]] = s.t
			ends[s.n]++
		}
	}
	for n := 1; n <= c.most; n++ {
		same := list[starts[n]:ends[n]]
		slices.Sort(same)
		slices.Reverse(same)
	}
	return list
}

func trigramRune(r rune) rune {
	if r < utf8.RuneSelf {
		if l := r | 0x20; 'a' <= l && l <= 'z' {
			return l
		}
		if r >= 0x20 && r != 0x7f {
			return ' '
		}
	}
	if unicode.IsSymbol(r) || unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsDigit(r) {
		return ' '
	}
	return unicode.ToLower(r)
}
