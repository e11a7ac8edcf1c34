package page

import (
	"errors"
	"fmt"
	"strings"
)

// URL is an absolute http or https URL in the canonical form of semantics.md
// section 1. It is parsed by the WHATWG URL standard. The host is in lower case and
// punycode without a trailing dot. There is no default port, no fragment and no empty
// query. The path is never empty and its dot segments are resolved. Percent-escapes are in
// upper-case hex and unreserved characters are unescaped, including those in the query,
// which is otherwise kept as written.
//
// Values come from ParseURL, Resolve or URLFromKey and are equal exactly if the URLs
// are. The zero value "" means no URL.
type URL string

// MaxURLLength is the maximum length of a URL in bytes. It bounds row keys. Many browsers
// and servers refuse far shorter URLs.
const MaxURLLength = 8192

var (
	// ErrNotHTTP is wrapped by the error for a URL of another scheme
	// (mailto:, javascript:, data:, ftp:).
	ErrNotHTTP = errors.New("not an http or https URL")
	// ErrURLTooLong is wrapped by the error for a URL over MaxURLLength.
	ErrURLTooLong = errors.New("URL is too long")
)

// parser follows the standard strictly; it has no state and may be shared.
var parser = newParser()

// ParseURL parses and normalises an absolute URL. Like the standard, it drops leading and
// trailing spaces and control characters.
func ParseURL(raw string) (URL, error) {
	if isCanonical(raw) {
		return URL(raw), nil
	}
	if len(raw) > MaxURLLength {
		return "", fmt.Errorf("parse URL %q: %w (limit %d bytes)", abbreviate(raw), ErrURLTooLong, MaxURLLength)
	}
	u, err := parser.Parse(raw)
	if err != nil {
		return "", fmt.Errorf("parse URL %q: %w", abbreviate(raw), err)
	}
	return normalise(u)
}

// MustParseURL is like ParseURL but panics on an error. It is for literals in tests and
// tables.
func MustParseURL(raw string) URL {
	u, err := ParseURL(raw)
	if err != nil {
		panic(err)
	}
	return u
}

// Resolve returns the URL that ref, a relative or absolute reference, names on a page at
// u. To resolve many references against one base, use a Resolver.
func (u URL) Resolve(ref string) (URL, error) {
	return NewResolver(u).Resolve(ref)
}

// String returns the URL as text.
func (u URL) String() string { return string(u) }

// Scheme returns "http" or "https", or "" for the zero URL.
func (u URL) Scheme() string {
	scheme, _, _ := strings.Cut(string(u), "://")
	return scheme
}

// Host returns the host without the port: a domain in punycode, an IPv4 address, or an
// IPv6 address in brackets.
func (u URL) Host() string {
	host, _ := splitPort(u.HostPort())
	return host
}

// Port returns the port, or "" for the scheme's default.
func (u URL) Port() string {
	_, port := splitPort(u.HostPort())
	return port
}

// Path returns the path, which begins with a slash.
func (u URL) Path() string {
	_, _, tail := u.split()
	path, _, _ := strings.Cut(tail, "?")
	return path
}

// Query returns the query without the question mark, or "" if there is none.
func (u URL) Query() string {
	_, query, _ := strings.Cut(string(u), "?")
	return query
}

// IsRobotsTxt reports whether u is the robots.txt of its host.
func (u URL) IsRobotsTxt() bool {
	return u.Path() == "/robots.txt" && u.Query() == ""
}

// Site returns the scheme, host and port, such as "https://example.com:8443".
func (u URL) Site() string {
	scheme, authority, _ := u.split()
	if scheme == "" {
		return ""
	}
	_, hostPort := cutUser(authority)
	return scheme + "://" + hostPort
}

// split cuts u into scheme, authority (user information, host and port) and the
// rest, which begins with the path. It relies on the canonical form, in which the first
// slash after "://" begins the path.
func (u URL) split() (scheme, authority, tail string) {
	scheme, rest, found := strings.Cut(string(u), "://")
	if !found {
		return "", "", ""
	}
	i := strings.IndexByte(rest, '/')
	if i < 0 {
		return scheme, rest, ""
	}
	return scheme, rest[:i], rest[i:]
}

// HostPort returns the host and, if it is not the scheme's default, the port.
func (u URL) HostPort() string {
	_, authority, _ := u.split()
	_, hostPort := cutUser(authority)
	return hostPort
}

// cutUser separates the user information, with its "@", from host and port.
func cutUser(authority string) (user, hostPort string) {
	i := strings.LastIndexByte(authority, '@') + 1
	return authority[:i], authority[i:]
}

// splitPort separates host and port. The colons of an IPv6 address are inside brackets.
func splitPort(hostPort string) (host, port string) {
	i := strings.LastIndexByte(hostPort, ':')
	if i < 0 || strings.HasSuffix(hostPort, "]") {
		return hostPort, ""
	}
	return hostPort[:i], hostPort[i+1:]
}

// abbreviate keeps long hostile URLs out of error messages and logs.
func abbreviate(s string) string {
	const limit = 200
	if len(s) <= limit {
		return s
	}
	return s[:limit] + "..."
}
