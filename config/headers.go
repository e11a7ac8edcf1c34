package config

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Header is a header field that is sent to one site: scheme, host and port.
type Header struct {
	Site, Name string
	// Value has a word @PATH in it where the first line of a file is to stand.
	Value string
}

// Headers are the lines of crawl.headers, SITE NAME: VALUE each. It leaves out what
// is not of that form; the setting is checked when it is read.
func Headers(lines string) (list []Header) {
	for _, line := range Patterns(lines) {
		if h, ok := parseHeader(line); ok {
			list = append(list, h)
		}
	}
	return list
}

// ownHeaders are the fields that the crawler or HTTP itself sets: a second one would
// change what the request is, or who makes it.
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

// isToken: RFC 9110 section 5.6.2.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
	})
}

func areHeaders(v string) bool {
	for _, line := range Patterns(v) {
		if _, ok := parseHeader(line); !ok {
			return false
		}
	}
	return true
}
