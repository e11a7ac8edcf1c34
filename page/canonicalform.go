package page

import "strings"

// The fast path. Nearly all references on real pages are plain: letters, digits,
// a little punctuation and percent-escapes. This code recognises their canonical form without the
// parser, at a tenth of its cost. Its functions only ever answer "certainly" or
// "ask the parser"; FuzzParseURL and FuzzResolve check that they agree with it.

// Classes of bytes that are already canonical in a part of the URL.
const (
	plainHost  = 1 << iota // in a domain that is already canonical
	plainPath              // in a path: not escaped, not a separator
	plainQuery             // in a query: not escaped
)

var plain = func() (table [256]uint8) {
	for c := range 256 {
		b := byte(c)
		switch {
		case 'A' <= b && b <= 'Z':
			table[c] = plainPath | plainQuery
		case isAlnum(b):
			table[c] = plainHost | plainPath | plainQuery
		case b == '-' || b == '.':
			table[c] = plainHost | plainPath | plainQuery
		case strings.IndexByte("_~!$&()*+,;=:@/[]|", b) >= 0:
			table[c] = plainPath | plainQuery
		case strings.IndexByte("?^`{}", b) >= 0:
			table[c] = plainQuery
		case b == '\'':
			table[c] = plainPath
		}
	}
	return table
}()

// isCanonical reports, without parsing, that s is certainly a canonical URL. False
// means only that s is not of the plain kind.
func isCanonical(s string) bool {
	rest, ok := cutHTTP(s)
	if !ok || len(s) > MaxURLLength {
		return false
	}
	i := strings.IndexByte(rest, '/')
	return i > 0 && isPlainHost(rest[:i]) && isPlainTail(rest[i:])
}

func cutHTTP(s string) (rest string, ok bool) {
	if rest, ok = strings.CutPrefix(s, "https://"); ok {
		return rest, true
	}
	return strings.CutPrefix(s, "http://")
}

// isPlainHost reports whether host is a domain of plain labels. Punycode labels need
// validation, and a host that ends in a number may be an IPv4 address, so the parser
// handles hosts with "xn--" and hosts whose last label does not begin with a letter.
func isPlainHost(host string) bool {
	if len(host) > 253 {
		return false
	}
	start := 0
	for i := 0; i <= len(host); i++ {
		if i < len(host) && host[i] != '.' {
			if plain[host[i]]&plainHost == 0 {
				return false
			}
			continue
		}
		label := host[start:i]
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if len(label) > 3 && label[2] == '-' && label[3] == '-' {
			return false
		}
		if i == len(host) && (label[0] < 'a' || label[0] > 'z') {
			return false
		}
		start = i + 1
	}
	return true
}

// isPlainTail reports whether a path and query, beginning with a slash, are
// canonical: plain bytes only and no dot segments.
func isPlainTail(tail string) bool {
	for i := 0; i < len(tail); i++ {
		c := tail[i]
		switch {
		case c == '?':
			return i+1 < len(tail) && isPlainQuery(tail[i+1:])
		case c == '%' && isPlainEscape(tail[i:]):
			i += 2
		case plain[c]&plainPath == 0:
			return false
		case c == '.' && tail[i-1] == '/' && isDotSegment(tail[i:]):
			return false
		}
	}
	return true
}

func isPlainQuery(query string) bool {
	for i := 0; i < len(query); i++ {
		switch {
		case query[i] == '%' && isPlainEscape(query[i:]):
			i += 2
		case plain[query[i]]&plainQuery == 0:
			return false
		}
	}
	return true
}

// isPlainEscape reports whether s begins with a percent-escape in upper case of a reserved character, which
// normalisation leaves as it is.
func isPlainEscape(s string) bool {
	c, ok := EscapedByte(s)
	return ok && !isUnreserved(c) && !isLower(s[1]) && !isLower(s[2])
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

// isDotSegment reports whether s begins with a "." or ".." segment.
func isDotSegment(s string) bool {
	s = strings.TrimPrefix(s, ".")
	s = strings.TrimPrefix(s, ".")
	return s == "" || s[0] == '/' || s[0] == '?' || s[0] == '#'
}
