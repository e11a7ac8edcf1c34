package page

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The reference of a programming interface, the index of a book or a list of names has hardly a
// sentence where detection looks, and its names have the trigrams of whatever language they look
// like: identifiers made of English words often look French. But a text in a language has the
// words that join others in it, whatever it is about. So a detected language counts only if the
// text has one of these.

// functionWords are frequent words of some languages. Related languages share some of them; words
// that are also frequent in English are left out.
var functionWords = map[string]string{
	"da": "og ikke af på eller bliver også efter denne kan det der er til som",
	"de": "und nicht ist eine für auf ein wird sich werden auch oder sie wenn durch bei der das den zu mit von",
	"en": "the and this with from that which when these should their your been would about",
	"es": "el los las una por con está este pero como más también esta sus cuando entre desde del se es al lo",
	"fr": "le les des du une dans est et qui avec sont cette vous ce aux que mais nous être leur ses il ne pas",
	"it": "il gli di della che si non sono nel alla questo anche più delle essere quando un è per dei una la",
	"nb": "og ikke av på eller blir også etter denne kan det er til som",
	"nl": "het een en de van niet zijn voor wordt deze ook maar naar worden kunnen dit als",
	"pt": "uma um não são pelo pela você mais também isso sua seu pode quando muito em os para que ser",
	"ro": "și este pentru sau din prin sunt mai în de la cu se care",
	"sv": "och inte av på är eller från för också efter kan det att som en till",
}

// languagesOfWords lists the languages of each function word.
var languagesOfWords = sync.OnceValue(func() map[string][]string {
	all := make(map[string][]string)
	for language, words := range functionWords {
		for _, w := range strings.Fields(words) {
			all[w] = append(all[w], language)
		}
	}
	return all
})

const (
	// confirmBytes is how much of a text may confirm its language. Detection sees much less.
	confirmBytes = 16 << 10
	// minFunctionWords is how many function words tell a language, if no other language has more
	// than a quarter of them. A page with this many has some sentences.
	minFunctionWords = 10
)

// confirm returns the language of a text in whose beginning one was detected: another language,
// if the text clearly has its function words; none, if it has no function word of the detected
// one; otherwise the detected one.
func confirm(detected, text string) string {
	if _, known := functionWords[detected]; !known || detected == "en" {
		return detected
	}
	text = cutText(text, confirmBytes)
	counts := countFunctionWords(text)
	best, second := detected, 0
	for language, n := range counts {
		if n > counts[best] {
			best = language
		}
	}
	for language, n := range counts {
		if language != best {
			second = max(second, n)
		}
	}
	switch {
	case best != detected && counts[best] >= max(minFunctionWords, 4*second) && isMostlyLatin(text):
		return best
	case counts[detected] == 0:
		return ""
	}
	return detected
}

// countFunctionWords counts the function words of each language in a text.
func countFunctionWords(text string) map[string]int {
	counts, languages := make(map[string]int), languagesOfWords()
	for w := range strings.FieldsFuncSeq(text, isNoWordRune) {
		for _, language := range languages[strings.ToLower(w)] {
			counts[language]++
		}
	}
	return counts
}

// isNoWordRune keeps identifiers and contractions in one piece: "we've" has no Turkish "ve".
func isNoWordRune(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_'’", r)
}

// cutText returns the beginning of a text, at most n bytes of it.
func cutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// isMostlyLatin reports whether at most a tenth of the letters of a text belong to other scripts.
func isMostlyLatin(text string) bool {
	latin, other := 0, 0
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r):
		case unicode.Is(unicode.Latin, r):
			latin++
		default:
			other++
		}
	}
	return 9*other <= latin
}
