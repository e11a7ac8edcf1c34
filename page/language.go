package page

import (
	"strings"
	"unicode/utf8"
)

const (
	// minDetectLength is the minimum number of code points for detection: a few words
	// fit too many languages.
	minDetectLength = 100
	// maxDetectBytes bounds the cost, which grows with the text. More text does not change
	// the answer.
	maxDetectBytes = 1024
)

// languageOf returns the declared language as a lower-case BCP 47 tag, or else the
// language detected from the text, or "" if it cannot be detected.
func languageOf(declared, text string) string {
	if tag := normaliseLanguage(declared); tag != "" {
		return tag
	}
	return detectLanguage(text)
}

// normaliseLanguage returns "" unless s has the form of a tag; it may be, for example, a
// template's placeholder.
func normaliseLanguage(s string) string {
	s = strings.ReplaceAll(strings.ToLower(strings.Trim(s, htmlSpace)), "_", "-")
	for i, subtag := range strings.Split(s, "-") {
		if len(subtag) == 0 || len(subtag) > 8 || i == 0 && len(subtag) == 1 {
			return ""
		}
		for j := 0; j < len(subtag); j++ {
			if !isAlnum(subtag[j]) || i == 0 && subtag[j] <= '9' {
				return ""
			}
		}
	}
	return s
}

func detectLanguage(text string) string {
	seen := cutText(text, maxDetectBytes)
	if len(seen) < minDetectLength || utf8.RuneCountInString(seen) < minDetectLength {
		return ""
	}
	lang, reliable := detect(seen)
	if !reliable {
		return ""
	}
	if tag := lang.Iso6391(); tag != "" {
		return confirm(tag, text)
	}
	return lang.Iso6393()
}
