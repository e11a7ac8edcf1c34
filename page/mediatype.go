package page

import (
	"net/http"
	"strings"
)

// kind is how a body is read.
type kind uint8

const (
	kindOther kind = iota
	kindHTML
	kindText
)

// bodyKind goes by the media type, and sniffs the body (MIME Sniffing standard,
// as net/http has it) where none, or none that can be read, is given.
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

// essence is a media type in lower case without its parameters.
func essence(contentType string) string {
	s, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(s))
}
