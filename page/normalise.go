package page

import (
	"fmt"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// maxNormalisePasses bounds the search for a fixed point in normalise. Each pass
// after the first removes one level of nested escapes or dots. Even one such level
// is rare; a URL that needs more passes is hostile and refused.
const maxNormalisePasses = 8

// normalise brings a parsed URL into canonical form.
//
// One pass is not always enough: unescaping "%%32%65" gives "%2e", which the standard
// reads as a dot segment, and "0x7f.1.." without its trailing dots is an IPv4 address.
// Canonical URLs are row keys and must parse to themselves, so normalise parses the
// result again until nothing changes.
func normalise(u *whatwg.Url) (URL, error) {
	for range maxNormalisePasses {
		s, settled, err := normaliseOnce(u)
		if err != nil || settled {
			return URL(s), err
		}
		if u, err = parser.Parse(s); err != nil {
			return "", fmt.Errorf("normalise URL %q: %w", abbreviate(s), err)
		}
	}
	return "", fmt.Errorf("normalise URL %q: escapes are nested too deeply", abbreviate(u.Href(true)))
}

// normaliseOnce does one pass. settled reports that the result certainly parses to itself.
func normaliseOnce(u *whatwg.Url) (s string, settled bool, err error) {
	scheme := u.Scheme()
	if scheme != "http" && scheme != "https" {
		return "", false, fmt.Errorf("URL %q: %w", abbreviate(u.Href(true)), ErrNotHTTP)
	}
	host := strings.TrimRight(u.Hostname(), ".")
	if host == "" {
		return "", false, fmt.Errorf("URL %q: the host is empty", abbreviate(u.Href(true)))
	}
	var b strings.Builder
	b.WriteString(scheme)
	b.WriteString("://")
	if u.Username() != "" || u.Password() != "" {
		b.WriteString(normaliseEscapes(u.Username()))
		if u.Password() != "" {
			b.WriteByte(':')
			b.WriteString(normaliseEscapes(u.Password()))
		}
		b.WriteByte('@')
	}
	b.WriteString(host)
	if port := u.Port(); port != "" {
		b.WriteByte(':')
		b.WriteString(port)
	}
	pathname := u.Pathname()
	path := normaliseEscapes(pathname)
	if path == "" {
		path = "/"
	}
	b.WriteString(path)
	query := normaliseEscapes(u.Query())
	if query != "" {
		b.WriteByte('?')
		b.WriteString(query)
	}
	if b.Len() > MaxURLLength {
		return "", false, fmt.Errorf("URL %q: %w (limit %d bytes)", abbreviate(b.String()), ErrURLTooLong, MaxURLLength)
	}
	settled = len(host) == len(u.Hostname()) && len(path) == len(pathname) && len(query) == len(u.Query())
	return b.String(), settled, nil
}

// normaliseEscapes writes percent-escapes in upper-case hex and unescapes unreserved
// characters (RFC 3986 sections 6.2.2.1 and 6.2.2.2). Like the URL standard, it keeps a
// percent sign that two hex digits do not follow.
func normaliseEscapes(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		c, escaped := EscapedByte(s[i:])
		if !escaped {
			b.WriteByte(s[i])
			continue
		}
		if isUnreserved(c) {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(upperHex[c>>4])
			b.WriteByte(upperHex[c&15])
		}
		i += 2
	}
	return b.String()
}

// EscapedByte returns the byte that a percent sign and two hex digits at the beginning of s stand for.
// ok reports whether s begins so.
func EscapedByte(s string) (c byte, ok bool) {
	if len(s) < 3 || s[0] != '%' || !isHex(s[1]) || !isHex(s[2]) {
		return 0, false
	}
	return unhex(s[1])<<4 | unhex(s[2]), true
}

// upperHex are the digits of percent-escapes.
const upperHex = "0123456789ABCDEF"

func isUnreserved(c byte) bool {
	return isAlnum(c) || c == '-' || c == '.' || c == '_' || c == '~'
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	default:
		return c - 'a' + 10
	}
}
