package page

import (
	"cmp"
	"net/http"
	"strings"
)

// OneContentType replaces the Content-Types of a response by one, if there are several, in repeated
// fields or in a list that a proxy has made of them. The last one with a media type counts, with a
// character set from those before it of the same type (Fetch standard, "extract a MIME type"). If none
// has a media type, none is left.
//
// Every caller that makes a Fetch from a response calls it. Interpret must not: a stored fetch whose
// media type is not that of a page has no body.
func OneContentType(h http.Header) {
	all := strings.Join(h.Values("Content-Type"), ",")
	if !strings.Contains(all, ",") {
		return
	}
	mediaType, charset := "", ""
	for all != "" {
		var value string
		value, all = cutListed(all)
		e := essence(value)
		if !strings.Contains(e, "/") || e == "*/*" {
			continue
		}
		if e != mediaType {
			mediaType, charset = e, ""
		}
		charset = cmp.Or(charsetParameter(value), charset)
	}
	h.Del("Content-Type")
	if charset != "" {
		mediaType += "; charset=" + charset
	}
	if mediaType != "" {
		h.Set("Content-Type", mediaType)
	}
}

// cutListed returns the first entry of a list and the rest. A comma in a quoted string divides nothing.
func cutListed(list string) (first, rest string) {
	quoted := false
	for i := range len(list) {
		switch list[i] {
		case '"':
			quoted = !quoted
		case ',':
			if !quoted {
				return list[:i], list[i+1:]
			}
		}
	}
	return list, ""
}

// essence returns a media type in lower case without its parameters.
func essence(contentType string) string {
	s, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(s))
}
