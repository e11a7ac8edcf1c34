package page

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// SURT returns the Sort-friendly URI Reordering Transform of a URL, which is the key of CDX
// and CDXJ indexes of web archives. It follows the canonicalisation of the Internet
// Archive, as implemented by the Python package surt, so that pywb and wayback find the
// keys:
//
//	https://www.example.com:8443/A//b/?z=1&a=2  com,example:8443)/a/b?a=2&z=1
//
// The key has no scheme, user, www. (or www1.), session identifiers or trailing slash. It
// is in lower case, with sorted query parameters and without unnecessary escapes. Different
// URLs may have the same key, so indexes store the URL as well.
func SURT(u URL) string {
	var b strings.Builder
	b.WriteString(surtHost(u.Host()))
	if p := u.Port(); p != "" {
		b.WriteString(":" + p)
	}
	b.WriteByte(')')
	b.WriteString(surtPath(u.Path()))
	if q := surtQuery(u.Query()); q != "" {
		b.WriteString("?" + q)
	}
	return b.String()
}

var wwwLabel = regexp.MustCompile(`^www[0-9]*\.`)

func surtHost(host string) string {
	host = strings.Trim(strings.ToLower(host), "[]") // of an IPv6 address
	host = host[len(wwwLabel.FindString(host)):]
	labels := strings.Split(strings.Trim(host, "."), ".")
	slices.Reverse(labels)
	return strings.Join(labels, ",")
}

func surtPath(path string) string {
	path = strings.ToLower(escapeOnce(collapseSlashes(unescapeAll(path))))
	for _, session := range pathSessions {
		path = session.ReplaceAllString(path, "$1$2")
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	return path
}

// collapseSlashes collapses runs of slashes, and resolves dot segments that escapes hid.
func collapseSlashes(path string) string {
	var kept []string
	for _, s := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		switch {
		case s == ".." && len(kept) > 0:
			kept = kept[:len(kept)-1]
		case s != ".":
			kept = append(kept, s)
		}
	}
	var b strings.Builder
	b.WriteByte('/')
	for i, s := range kept {
		b.WriteString(s)
		if s != "" && i < len(kept)-1 {
			b.WriteByte('/')
		}
	}
	return b.String()
}

func surtQuery(query string) string {
	query = escapeOnce(unescapeAll(query))
	for _, session := range querySessions {
		query = session.ReplaceAllString(query, "$1$2")
	}
	query = strings.ToLower(query)
	if len(query) <= 1 {
		return query
	}
	args := strings.Split(query, "&")
	slices.SortStableFunc(args, func(a, b string) int {
		aName, aValue, aHas := strings.Cut(a, "=")
		bName, bValue, bHas := strings.Cut(b, "=")
		return cmp.Or(cmp.Compare(aName, bName), cmp.Compare(number(aHas), number(bHas)), cmp.Compare(aValue, bValue))
	})
	return strings.Join(args, "&")
}

func number(has bool) int {
	if has {
		return 1
	}
	return 0
}

// Session identifiers that web servers put in paths and queries.
var (
	pathSessions = []*regexp.Regexp{
		regexp.MustCompile(`(?i)^(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)$`),
		regexp.MustCompile(`(?i)^(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)$`),
	}
	querySessions = []*regexp.Regexp{
		regexp.MustCompile(`(?i)^(.*)jsessionid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`(?i)^(.*)phpsessid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`(?i)^(.*)sid=[0-9a-z]{32}(?:&(.*))?$`),
		regexp.MustCompile(`(?i)^(.*)aspsessionid[a-z]{8}=[a-z]{24}(?:&(.*))?$`),
		regexp.MustCompile(`(?i)^(.*)cfid=[^&]+&cftoken=[^&]+(?:&(.*))?$`),
	}
)

// unescapeAll unescapes until there are no escapes left. What an escape stands for may end another
// one, as in "%2541".
func unescapeAll(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		b = append(b, s[i])
		for at := len(b) - 3; at >= 0; at = len(b) - 3 {
			c, escaped := EscapedByte(string(b[at:]))
			if !escaped {
				break
			}
			b = append(b[:at], c)
		}
	}
	return string(b)
}

// escapeOnce escapes #, %, and everything except visible ASCII characters.
func escapeOnce(s string) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '#' || c == '%' {
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}
