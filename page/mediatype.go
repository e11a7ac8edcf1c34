package page

import (
	"net/http"
	"strings"
)

// kind says how to read a body.
type kind uint8

const (
	kindOther kind = iota
	kindHTML
	kindText
)

// bodyKind uses the media type. If that is missing or malformed, it sniffs the body (MIME
// Sniffing standard, as implemented by net/http).
func bodyKind(f *Fetch) kind {
	mediaType := essence(f.Header.Get("Content-Type"))
	if !strings.Contains(mediaType, "/") {
		mediaType = essence(http.DetectContentType(f.Body))
	}
	switch mediaType {
	case "text/html", "application/xhtml+xml":
		return kindHTML
	case "text/plain":
		return kindText
	}
	return kindOther
}

// essence returns a media type in lower case without its parameters.
func essence(contentType string) string {
	s, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(s))
}
