package page

import (
	"fmt"
	"strings"
)

// Key returns the row key of u. The keys of a site are contiguous, and next to those of
// its subdomains:
//
//	https://www.example.com/a?b       com.example.www/https/a?b
//	http://u:p@example.com:8080/      com.example/http:8080@u:p/
//	http://192.0.2.1/                 192.0.2.1/http/
//	https://[2001:db8::1]/x           [2001:db8::1]/https/x
//
// The separator after the host is a slash because it sorts directly after the dot
// and cannot occur in a host. So exactly the keys of example.com and its subdomains
// begin with "com.example." or "com.example/", which are two adjacent ranges.
//
// Invariants, checked by FuzzURLKey:
//  1. URLFromKey(u.Key()) == u for every URL made by ParseURL.
//  2. Keys of different URLs differ (follows from 1).
//  3. Keys hold no byte below 0x21.
func (u URL) Key() string {
	scheme, authority, tail := u.split()
	user, hostPort := cutUser(authority)
	host, port := splitPort(hostPort)
	var b strings.Builder
	b.Grow(len(u) + 1)
	writeReversed(&b, host)
	b.WriteByte('/')
	b.WriteString(scheme)
	if port != "" {
		b.WriteByte(':')
		b.WriteString(port)
	}
	if user != "" {
		b.WriteByte('@')
		b.WriteString(user[:len(user)-1])
	}
	b.WriteString(tail)
	return b.String()
}

// SiteKey returns the common prefix of the keys of u's host. It covers both schemes and
// all ports.
func (u URL) SiteKey() string {
	var b strings.Builder
	writeReversed(&b, u.Host())
	b.WriteByte('/')
	return b.String()
}

// URLFromKey is the inverse of Key. It fails for keys that Key cannot return, and could not
// before.
func URLFromKey(key string) (URL, error) {
	host, rest, ok := strings.Cut(key, "/")
	i := strings.IndexByte(rest, '/')
	if !ok || i < 0 {
		return "", fmt.Errorf("row key %q is not of the form host/scheme/path", abbreviate(key))
	}
	site, tail := rest[:i], rest[i:]
	site, user, hasUser := strings.Cut(site, "@")
	scheme, port, hasPort := strings.Cut(site, ":")
	var b strings.Builder
	b.Grow(len(key) + 2)
	b.WriteString(scheme)
	b.WriteString("://")
	if hasUser {
		b.WriteString(user)
		b.WriteByte('@')
	}
	writeReversed(&b, host)
	if hasPort {
		b.WriteByte(':')
		b.WriteString(port)
	}
	b.WriteString(tail)
	u, err := ParseURL(b.String())
	if err != nil {
		return "", fmt.Errorf("row key %q: %w", abbreviate(key), err)
	}
	if string(u) != b.String() && string(u) != escapeCarets(b.String()) {
		return "", fmt.Errorf("row key %q does not stand for a canonical URL", abbreviate(key))
	}
	return URL(b.String()), nil
}

// escapeCarets escapes "^" in the path of a URL. Stores have rows that were written when the
// canonical form still kept it.
func escapeCarets(u string) string {
	path, query, found := strings.Cut(u, "?")
	path = strings.ReplaceAll(path, "^", "%5E")
	if found {
		return path + "?" + query
	}
	return path
}

// writeReversed writes the labels of a domain in reverse order, and an IP address
// unchanged. It is its own inverse: a domain never ends in a number (the standard
// reads such hosts as IPv4 addresses), so its reverse never begins with one.
func writeReversed(b *strings.Builder, host string) {
	if strings.HasPrefix(host, "[") || isIPv4(host) {
		b.WriteString(host)
		return
	}
	for end := len(host); ; {
		i := strings.LastIndexByte(host[:end], '.')
		b.WriteString(host[i+1 : end])
		if i < 0 {
			return
		}
		b.WriteByte('.')
		end = i
	}
}

// isIPv4 reports whether host is an IPv4 address: in canonical form, only these consist of
// digits and dots.
func isIPv4(host string) bool {
	for i := 0; i < len(host); i++ {
		if (host[i] < '0' || host[i] > '9') && host[i] != '.' {
			return false
		}
	}
	return host != ""
}
