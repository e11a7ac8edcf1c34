package page

import (
	"errors"
	"fmt"
	"strings"
)

// URL is an absolute http or https URL in the canonical form of semantics.md
// section 1: parsed as the WHATWG URL standard says, host in lower case and
// punycode without trailing dot, no default port, no fragment, no empty query,
// path never empty, its dot segments resolved, percent-escapes (in the query, too,
// which is otherwise kept as written) in upper-case hex, unreserved characters
// unescaped.
//
// Values come from ParseURL, Resolve or URLFromKey and are equal exactly when
// the URLs are. The zero value "" stands for no URL.
type URL string

// MaxURLLength is the length in bytes beyond which a URL is refused. It bounds
// row keys; browsers and servers refuse far shorter ones.
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

// ParseURL parses and normalises an absolute URL. Leading and trailing spaces
// and control characters are dropped, as the standard says.
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

// MustParseURL is ParseURL for literals in tests and tables; it panics on a bad
// one.
func MustParseURL(raw string) URL {
	u, err := ParseURL(raw)
	if err != nil {
		panic(err)
	}
	return u
}

// Resolve gives the URL that ref, a relative or absolute reference, names on a
// page at u. For many references against one base use a Resolver.
func (u URL) Resolve(ref string) (URL, error) {
	return NewResolver(u).Resolve(ref)
}

// String is the URL as text.
func (u URL) String() string { return string(u) }

// Scheme is "http" or "https", "" for the zero URL.
func (u URL) Scheme() string {
	scheme, _, _ := strings.Cut(string(u), "://")
	return scheme
}

// Host is the host without port: a domain in punycode, an IPv4 address, or an
// IPv6 address in brackets.
func (u URL) Host() string {
	host, _ := splitPort(u.hostPort())
	return host
}

// Port is the port as written, "" for the scheme's default.
func (u URL) Port() string {
	_, port := splitPort(u.hostPort())
	return port
}

// Path is the path, which begins with a slash.
func (u URL) Path() string {
	_, _, tail := u.split()
	path, _, _ := strings.Cut(tail, "?")
	return path
}

// Query is what follows the question mark, "" if nothing does.
func (u URL) Query() string {
	_, query, _ := strings.Cut(string(u), "?")
	return query
}

// Site is the scheme, host and port, as in "https://example.com:8443".
func (u URL) Site() string {
	scheme, authority, _ := u.split()
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	if scheme == "" {
		return ""
	}
	return scheme + "://" + authority
}

// split cuts u into scheme, authority (user information, host and port) and the
// rest, from the path on. It relies on the canonical form: the first slash after
// "://" begins the path.
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

func (u URL) hostPort() string {
	_, authority, _ := u.split()
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		return authority[i+1:]
	}
	return authority
}

// splitPort cuts a host and port; the colons of an IPv6 address stay in brackets.
func splitPort(hostPort string) (host, port string) {
	i := strings.LastIndexByte(hostPort, ':')
	if i < 0 || strings.HasSuffix(hostPort, "]") {
		return hostPort, ""
	}
	return hostPort[:i], hostPort[i+1:]
}

// abbreviate keeps hostile URLs out of error messages and logs.
func abbreviate(s string) string {
	const limit = 200
	if len(s) <= limit {
		return s
	}
	return s[:limit] + "..."
}
