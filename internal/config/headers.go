package config

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Header is a header field for one site (scheme, host and port).
type Header struct {
	Site, Name string
	// Value contains a word @PATH where the first line of a file belongs.
	Value string
}

// Headers parses the lines of crawl.headers, each SITE NAME: VALUE. It skips malformed
// lines; Load has rejected them before.
func Headers(lines string) (list []Header) {
	for _, line := range Patterns(lines) {
		if h, ok := parseHeader(line); ok {
			list = append(list, h)
		}
	}
	return list
}

// ownHeaders are the fields that the crawler or the HTTP client sets itself. A second one
// would change the meaning or the origin of the request.
var ownHeaders = []string{
	"Accept-Encoding", "Connection", "Content-Length", "Expect", "From", "Host", "If-Modified-Since", "If-None-Match", "Keep-Alive",
	"Proxy-Authorization", "Proxy-Connection", "Range", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent",
}

func parseHeader(line string) (h Header, ok bool) {
	site, field, _ := strings.Cut(line, " ")
	u, err := url.Parse(site)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return h, false
	}
	name, value, found := strings.Cut(strings.TrimSpace(field), ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !found || !isToken(name) || value == "" || !isField(value) || slices.Contains(ownHeaders, http.CanonicalHeaderKey(name)) {
		return h, false
	}
	return Header{Site: u.Scheme + "://" + u.Host, Name: http.CanonicalHeaderKey(name), Value: value}, true
}

// isToken reports whether name is a token of RFC 9110 section 5.6.2.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}

func areHeaders(v string) bool {
	return eachLine(v, func(line string) bool {
		_, ok := parseHeader(line)
		return ok
	})
}
