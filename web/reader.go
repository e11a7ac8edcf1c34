package web

import (
	"net/url"
	"strings"

	"golang.org/x/text/language"
)

// maxAcceptLanguage bounds the bytes of the header Accept-Language that are read. Browsers
// send fewer than a hundred.
const maxAcceptLanguage = 200

// readerOf is the parameter reader: the language that the reader understands, as opposed to
// lang, which finds nothing in other languages. The value any treats all languages alike.
func readerOf(params url.Values) (string, error) {
	tag := strings.ToLower(strings.TrimSpace(params.Get("reader")))
	if tag != "" && !isLanguageTag(tag) {
		return "", badRequest("the parameter reader must be a language tag, such as en, or any")
	}
	return tag, nil
}

// acceptedLanguage is the language that a browser asks for most, from the header
// Accept-Language; "" if it names none.
func acceptedLanguage(header string) string {
	tags, _, err := language.ParseAcceptLanguage(bounded(header, maxAcceptLanguage))
	if err != nil {
		return ""
	}
	for _, tag := range tags {
		if tag != language.Und && tag.String() != "mul" { // from *
			return strings.ToLower(tag.String())
		}
	}
	return ""
}
